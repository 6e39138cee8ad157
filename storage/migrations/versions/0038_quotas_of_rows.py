"""Quotas of rows."""

import sqlalchemy as sa
from alembic import op

import storage.types
from storage.migrations import online

revision = '0038'
down_revision = '0037'
branch_labels = None
depends_on = None


def upgrade() -> None:
    online.add_columns('storage_usage', sa.Column('row_quotas', storage.types.JsonColumn(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table('storage_usage', schema=None) as batch_op:
        batch_op.drop_column('row_quotas')
