"""What changed and what was deleted."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

import storage.types
from storage.migrations import online

revision = '0028'
down_revision = '0027'
branch_labels = None
depends_on = None

# With the columns of their indexes, if they have one.
CHANGED = {
    'custom_fields': ['workspace_id', 'changed_at', 'id'],
    'customers': ['workspace_id', 'changed_at', 'id', 'deleted_at'],
    'file_share_payments': ['workspace_id', 'changed_at', 'id'],
    'file_share_sessions': ['workspace_id', 'changed_at', 'id'],
    'files': ['workspace_id', 'changed_at', 'id'],
    'members': ['workspace_id', 'changed_at', 'id', 'deleted_at'],
    'shares': ['workspace_id', 'changed_at', 'id'],
    'workspace_members': [],
    'workspaces': [],
}
CREATED = ('events', 'file_share_downloads', 'file_share_refunds')
NEVER = "'1970-01-01 00:00:00.000000'"


def upgrade() -> None:
    moment = storage.types.MomentColumn(timezone=True)
    changed = {'changed_at': 'COALESCE(modified_at, created_at)'}
    for table, columns in CHANGED.items():
        # A constant default adds the column without writing each row twice; every insert has a value.
        default = sa.text(NEVER)
        online.add_columns(table, sa.Column('changed_at', moment, nullable=False, server_default=default))
        online.fill(table, changed, where=f'changed_at = {NEVER}')
        if columns:
            online.create_index(f'ix_{table}_changed_at', table, columns)
    for table in CREATED:
        online.create_index(f'ix_{table}_created_at', table, ['workspace_id', 'created_at', 'id'])
    op.add_column('workspaces', sa.Column('return_url_schemes', storage.types.JsonColumn(), nullable=True))
    op.create_table('deletions',
    sa.Column('created_at', moment, nullable=False),
    sa.Column('workspace_id', sa.Uuid(), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('resource', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_deletions_workspace_id_workspaces')),
    sa.PrimaryKeyConstraint('workspace_id', 'id', name=op.f('pk_deletions')),
    )
    op.create_index('ix_deletions_created_at', 'deletions', ['workspace_id', 'created_at', 'id'])
    op.create_index('ix_deletions_expiry', 'deletions', ['created_at'])


def downgrade() -> None:
    with op.batch_alter_table('workspaces', schema=None) as batch_op:
        batch_op.drop_column('return_url_schemes')
    op.drop_table('deletions')
    for table in CREATED:
        op.drop_index(f'ix_{table}_created_at', table_name=table)
    for table, columns in CHANGED.items():
        if columns:
            op.drop_index(f'ix_{table}_changed_at', table_name=table)
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.drop_column('changed_at')
