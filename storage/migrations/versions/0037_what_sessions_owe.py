"""What has to be paid for a session.

Sessions that exist keep null: they stay open, or open, as the release before had it.
"""

import sqlalchemy as sa
from alembic import op

from storage.migrations import online

revision = '0037'
down_revision = '0036'
branch_labels = None
depends_on = None


def upgrade() -> None:
    online.add_columns('file_share_sessions', sa.Column('due_amount', sa.Integer(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table('file_share_sessions', schema=None) as batch_op:
        batch_op.drop_column('due_amount')
