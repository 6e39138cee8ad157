"""What has ended is deleted: indexes on the ends of rows, and the end of each OAuth grant."""

import sqlalchemy as sa
from alembic import op

import storage.types
from storage.migrations import online

revision = '0034'
down_revision = '0033'
branch_labels = None
depends_on = None

# The table, the columns, and which rows the index has, by name.
INDEXES = {
    'ix_credentials_expires_at': ('credentials', ['kind', 'expires_at'], 'expires_at IS NOT NULL'),
    'ix_credentials_revoked_at': ('credentials', ['kind', 'revoked_at'], 'revoked_at IS NOT NULL'),
    'ix_customer_sessions_expires_at': ('customer_sessions', ['expires_at'], None),
    'ix_idempotency_keys_created_at': ('idempotency_keys', ['created_at'], None),
    'ix_mailed_links_expires_at': ('mailed_links', ['expires_at'], None),
    'ix_oauth_grants_ends_at': ('oauth_grants', ['ends_at'], None),
    'ix_portal_codes_expires_at': ('portal_codes', ['expires_at'], None),
    'ix_refresh_answers_expires_at': ('refresh_answers', ['expires_at'], None),
    'ix_second_steps_expires_at': ('second_steps', ['expires_at'], None),
    'ix_signing_keys_retired_at': ('signing_keys', ['retired_at'], None),
    'ix_workspace_members_expires_at': ('workspace_members', ['expires_at'], 'expires_at IS NOT NULL'),
}


def upgrade() -> None:
    ends_at = sa.Column('ends_at', storage.types.MomentColumn(timezone=True), nullable=True)
    online.add_columns('oauth_grants', ends_at)
    last = '(SELECT MAX(expires_at) FROM credentials WHERE credentials.grant_id = oauth_grants.id)'
    ends = {'ends_at': f'COALESCE(revoked_at, {last}, created_at)'}
    online.fill('oauth_grants', ends, where='ends_at IS NULL')
    for name, (table, columns, rows) in INDEXES.items():
        online.create_index(name, table, columns, where=rows)


def downgrade() -> None:
    for name, (table, _, _) in INDEXES.items():
        op.drop_index(name, table_name=table)
    op.drop_column('oauth_grants', 'ends_at')
