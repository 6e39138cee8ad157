"""What clients use."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

import storage.types

revision = '0033'
down_revision = '0032'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('usage_counts',
    sa.Column('workspace_id', sa.Uuid(), nullable=False),
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('client_kind', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('client_id', sa.Uuid(), nullable=False),
    sa.Column('surface', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('name', storage.types.CodePointText(), nullable=False),
    sa.Column('kind', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('is_deprecated', sa.Boolean(), nullable=False),
    sa.Column('requests', sa.BigInteger(), nullable=False),
    sa.Column('last_used_at', storage.types.MomentColumn(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_usage_counts_workspace_id_workspaces')),
    sa.PrimaryKeyConstraint('workspace_id', 'day', 'client_kind', 'client_id', 'surface', 'name', name=op.f('pk_usage_counts'))
    )
    with op.batch_alter_table('usage_counts', schema=None) as batch_op:
        batch_op.create_index('ix_usage_counts_day', ['day'], unique=False)


def downgrade() -> None:
    with op.batch_alter_table('usage_counts', schema=None) as batch_op:
        batch_op.drop_index('ix_usage_counts_day')

    op.drop_table('usage_counts')
