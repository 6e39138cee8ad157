"""Documents of OAuth clients."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

import storage.types

revision = '0030'
down_revision = '0029'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('oauth_client_documents',
    sa.Column('created_at', storage.types.MomentColumn(timezone=True), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('oauth_client_id', sa.Uuid(), nullable=False),
    sa.Column('hash', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('is_registered', sa.Boolean(), nullable=False),
    sa.Column('name', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('text', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('root_fields', storage.types.JsonColumn(), nullable=True),
    sa.Column('requests', sa.BigInteger(), nullable=False),
    sa.Column('last_used_at', storage.types.MomentColumn(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['oauth_client_id'], ['oauth_clients.id'], name=op.f('fk_oauth_client_documents_oauth_client_id_oauth_clients')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_oauth_client_documents'))
    )
    with op.batch_alter_table('oauth_client_documents', schema=None) as batch_op:
        batch_op.create_index('ix_oauth_client_documents_hash', ['oauth_client_id', 'hash'], unique=True)
        batch_op.create_index('ix_oauth_client_documents_last_used_at', ['is_registered', 'last_used_at'], unique=False)

    with op.batch_alter_table('oauth_clients', schema=None) as batch_op:
        batch_op.add_column(sa.Column('document_mode', sqlmodel.sql.sqltypes.AutoString(), server_default='off', nullable=False))
        batch_op.add_column(sa.Column('documents_version', sa.Integer(), server_default=sa.text('0'), nullable=False))


def downgrade() -> None:
    with op.batch_alter_table('oauth_clients', schema=None) as batch_op:
        batch_op.drop_column('documents_version')
        batch_op.drop_column('document_mode')

    with op.batch_alter_table('oauth_client_documents', schema=None) as batch_op:
        batch_op.drop_index('ix_oauth_client_documents_last_used_at')
        batch_op.drop_index('ix_oauth_client_documents_hash')

    op.drop_table('oauth_client_documents')
