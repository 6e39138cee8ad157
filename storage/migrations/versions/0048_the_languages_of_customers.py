"""the languages of customers and workspaces."""

import sqlalchemy as sa
from alembic import op

from storage.migrations import online


revision = '0048'
down_revision = '0047'
branch_labels = None
depends_on = None


def upgrade() -> None:
    online.add_columns("customers", sa.Column("language", sa.String(), nullable=True))
    online.add_columns("workspaces", sa.Column("language", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("workspaces", "language")
    op.drop_column("customers", "language")
