"""Bytes of kinds."""

from alembic import op

revision = '0039'
down_revision = '0038'
branch_labels = None
depends_on = None

MEASURED = {
    'events': ('metadata',),
    'customers': ('billing_address', 'metadata'),
    'shares': ('description', 'metadata'),
    'custom_fields': ('metadata', 'properties'),
}
OCTETS = {'postgresql': 'octet_length({})', 'sqlite': 'length(CAST({} AS BLOB))'}


def upgrade() -> None:
    octets = OCTETS[op.get_context().dialect.name]
    for table, columns in MEASURED.items():
        size = ' + '.join(f'coalesce({octets.format(column)}, 0)' for column in columns)
        op.execute(
            'INSERT INTO list_totals (workspace_id, list, value, total) '
            f"SELECT workspace_id, '{table}:bytes', '', SUM({size}) FROM {table} GROUP BY workspace_id"
        )


def downgrade() -> None:
    for table in ('list_totals', 'list_total_deltas'):
        op.execute(f"DELETE FROM {table} WHERE list LIKE '%\\:bytes'")
