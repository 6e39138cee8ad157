"""Answers to refreshes; secrets that were sealed under equal nonces are forgotten."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

import storage.types

revision = '0015'
down_revision = '0014'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('refresh_answers',
    sa.Column('created_at', storage.types.MomentColumn(timezone=True), nullable=False),
    sa.Column('hash', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('expires_at', storage.types.MomentColumn(timezone=True), nullable=False),
    sa.Column('sealed', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.PrimaryKeyConstraint('hash', name=op.f('pk_refresh_answers'))
    )
    # The rows stay, so that a retry is refused and does nothing twice.
    op.execute("UPDATE idempotency_keys SET sealed = '' WHERE sealed IS NOT NULL")


def downgrade() -> None:
    op.drop_table('refresh_answers')
