"""the languages of members."""

import sqlalchemy as sa
from alembic import op

from storage.migrations import online


revision = '0051'
down_revision = '0050'
branch_labels = None
depends_on = None


def upgrade() -> None:
    online.add_columns("users", sa.Column("language", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("users", "language")
