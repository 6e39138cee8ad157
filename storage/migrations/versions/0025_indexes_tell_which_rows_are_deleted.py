"""Indexes of lists tell which rows are deleted."""

from alembic import op

revision = '0025'
down_revision = '0024'
branch_labels = None
depends_on = None

INDEXES = {
    'ix_customers_created_at': ('customers', ['workspace_id', 'created_at', 'id']),
    'ix_customers_name': ('customers', ['workspace_id', 'name_folded', 'id']),
    'ix_members_created_at': ('members', ['workspace_id', 'created_at', 'id']),
}


def upgrade() -> None:
    for name, (table, columns) in INDEXES.items():
        op.drop_index(name, table_name=table)
        op.create_index(name, table, [*columns, 'deleted_at'])


def downgrade() -> None:
    for name, (table, columns) in INDEXES.items():
        op.drop_index(name, table_name=table)
        op.create_index(name, table, columns)
