"""Totals are counted again."""

import sqlalchemy as sa
from alembic import op

import storage.types
from storage.migrations import online

revision = '0040'
down_revision = '0039'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'recounts',
        sa.Column('revision', sa.Integer(), autoincrement=False, nullable=False),
        sa.Column('begun_at', storage.types.MomentColumn(), nullable=False),
        sa.Column('last', sa.Uuid(), nullable=False),
        sa.Column('maker', sa.Uuid(), nullable=False),
        sa.Column('claimed_at', storage.types.MomentColumn(), nullable=True),
        sa.PrimaryKeyConstraint('revision', name=op.f('pk_recounts')),
    )
    online.count_again(revision)


def downgrade() -> None:
    op.drop_table('recounts')
