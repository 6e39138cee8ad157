"""Lists of payments, refunds and downloads."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

import storage.types
from storage.migrations import online

revision = '0027'
down_revision = '0026'
branch_labels = None
depends_on = None

TABLES = ('file_share_downloads', 'file_share_payments', 'file_share_refunds')
COUNTED = {
    'file_share_downloads': ('', 'share_id', 'customer_id'),
    'file_share_payments': ('', 'share_id', 'customer_id', 'currency'),
    'file_share_refunds': ('', 'share_id', 'customer_id', 'currency'),
}
INDEXED = {'at': (), 'session': ('file_share_session_id',), 'share': ('share_id',), 'customer': ('customer_id',)}


def upgrade() -> None:
    columns = ['workspace_id', 'ended_at', 'id']
    online.create_index('ix_file_share_sessions_ended_at', 'file_share_sessions', columns)
    columns = ['workspace_id', 'share_id', 'timestamp', 'id']
    online.create_index('ix_events_share', 'events', columns, where='share_id IS NOT NULL')
    op.drop_index('ix_file_share_downloads_session', table_name='file_share_downloads')
    op.drop_index('ix_file_share_payments_session', table_name='file_share_payments')
    op.drop_index('ix_file_share_refunds_payment', table_name='file_share_refunds')
    moment = storage.types.MomentColumn(timezone=True)
    op.add_column('file_share_payments', sa.Column('modified_at', moment, nullable=True))
    op.add_column('file_share_refunds', sa.Column('file_share_session_id', sa.Uuid(), nullable=True))
    text = sqlmodel.sql.sqltypes.AutoString()
    op.add_column('file_share_refunds', sa.Column('currency', text, nullable=True))
    copy('file_share_refunds', 'file_share_payments', 'file_share_payment_id', 'file_share_session_id', 'currency')
    for table in TABLES:
        for name, type_ in (('share_id', sa.Uuid()), ('customer_id', sa.Uuid()), ('person', sa.Integer())):
            op.add_column(table, sa.Column(name, type_, nullable=True))
        copy(table, 'file_share_sessions', 'file_share_session_id', 'share_id', 'customer_id', 'person')
    with op.batch_alter_table('file_share_refunds', schema=None) as batch_op:
        batch_op.alter_column('file_share_session_id', existing_type=sa.Uuid(), nullable=False)
        batch_op.alter_column('currency', existing_type=text, nullable=False)
    for table in TABLES:
        for name, columns in INDEXED.items():
            op.create_index(f'ix_{table}_{name}', table, ['workspace_id', *columns, 'at', 'id'])
        for column in COUNTED[table]:
            count(table, column)
    columns = ['workspace_id', 'file_share_payment_id', 'at', 'id']
    op.create_index('ix_file_share_refunds_payment', 'file_share_refunds', columns)


def copy(table: str, parents: str, reference: str, *columns: str) -> None:
    """Copy these columns of the rows that `reference` refers to."""
    parent = f'{parents}.workspace_id = {table}.workspace_id AND {parents}.id = {table}.{reference}'
    copies = (f'{name} = (SELECT {parents}.{name} FROM {parents} WHERE {parent})' for name in columns)
    op.execute(f"UPDATE {table} SET {', '.join(copies)}")


def count(table: str, column: str) -> None:
    """Count the rows of each workspace, or those with each value of the column."""
    name, value, where, group = table, "''", '', 'workspace_id'
    if column:
        name, value, group = f'{table}.{column}', f'CAST({column} AS TEXT)', f'workspace_id, {column}'
        where = f'WHERE {column} IS NOT NULL '
    op.execute(
        'INSERT INTO list_totals (workspace_id, list, value, total) '
        f"SELECT workspace_id, '{name}', {value}, COUNT(*) FROM {table} {where}GROUP BY {group}"
    )


def downgrade() -> None:
    op.drop_index('ix_events_share', table_name='events')
    for table in TABLES:
        for name in INDEXED:
            op.drop_index(f'ix_{table}_{name}', table_name=table)
        op.execute(f"DELETE FROM list_totals WHERE list = '{table}' OR list LIKE '{table}.%'")
        op.execute(f"DELETE FROM list_total_deltas WHERE list = '{table}' OR list LIKE '{table}.%'")
    op.drop_index('ix_file_share_refunds_payment', table_name='file_share_refunds')
    for table in TABLES:
        with op.batch_alter_table(table, schema=None) as batch_op:
            for name in ('share_id', 'customer_id', 'person'):
                batch_op.drop_column(name)
            if table == 'file_share_payments':
                batch_op.drop_column('modified_at')
            if table == 'file_share_refunds':
                batch_op.drop_column('file_share_session_id')
                batch_op.drop_column('currency')
    keys = {'downloads_session': 'session_id', 'payments_session': 'session_id', 'refunds_payment': 'payment_id'}
    for name, column in keys.items():
        table = f"file_share_{name.split('_')[0]}"
        op.create_index(f'ix_file_share_{name}', table, ['workspace_id', f'file_share_{column}'])
    op.drop_index('ix_file_share_sessions_ended_at', table_name='file_share_sessions')
