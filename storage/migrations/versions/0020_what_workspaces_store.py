"""What each workspace stores, and the uploads that it has open."""

import sqlalchemy as sa
from alembic import op

revision = '0020'
down_revision = '0019'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'storage_usage',
        sa.Column('workspace_id', sa.Uuid(), nullable=False),
        sa.Column('stored_bytes', sa.BigInteger(), nullable=False),
        sa.Column('open_uploads', sa.Integer(), nullable=False),
        sa.Column('storage_quota', sa.BigInteger(), nullable=True),
        sa.Column('open_upload_quota', sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ['workspace_id'], ['workspaces.id'], name=op.f('fk_storage_usage_workspace_id_workspaces')
        ),
        sa.PrimaryKeyConstraint('workspace_id', name=op.f('pk_storage_usage')),
    )
    op.execute(
        'INSERT INTO storage_usage (workspace_id, stored_bytes, open_uploads) '
        'SELECT workspace_id, SUM(size), SUM(CASE WHEN is_uploaded THEN 0 ELSE 1 END) '
        'FROM files GROUP BY workspace_id'
    )


def downgrade() -> None:
    op.drop_table('storage_usage')
