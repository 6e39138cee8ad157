"""The lock of a workspace becomes a row."""

import sqlalchemy as sa
from alembic import op

from storage.migrations.tenant_tables import create_tenant_table

revision = '0036'
down_revision = '0035'
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_tenant_table(
        'workspace_locks',
        sa.Column('workspace_id', sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_workspace_locks_workspace_id_workspaces')),
        sa.PrimaryKeyConstraint('workspace_id', name=op.f('pk_workspace_locks')),
    )


def downgrade() -> None:
    op.drop_table('workspace_locks')
