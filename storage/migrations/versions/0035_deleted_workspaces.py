"""Deleted workspaces."""

import sqlalchemy as sa
from alembic import op

import storage.types
from storage.migrations import online

revision = '0035'
down_revision = '0034'
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = storage.types.MomentColumn(timezone=True)
    columns = (sa.Column(name, moment, nullable=True) for name in ('deleted_at', 'removal_due_at'))
    online.add_columns('workspaces', *columns)
    rows = 'removal_due_at IS NOT NULL'
    online.create_index('ix_workspaces_removal', 'workspaces', ['removal_due_at'], where=rows)


def downgrade() -> None:
    with op.batch_alter_table('workspaces', schema=None) as batch_op:
        batch_op.drop_index('ix_workspaces_removal', sqlite_where=sa.text('removal_due_at IS NOT NULL'), postgresql_where=sa.text('removal_due_at IS NOT NULL'))
        batch_op.drop_column('removal_due_at')
        batch_op.drop_column('deleted_at')
