"""Roles and accepted invitations."""

import json
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
import sqlmodel
from alembic import op

import storage.types

revision = '0022'
down_revision = '0021'
branch_labels = None
depends_on = None

MEMBERS = sa.table(
    'workspace_members',
    sa.column('id', sa.Uuid()),
    sa.column('created_at', storage.types.MomentColumn()),
    sa.column('workspace_id', sa.Uuid()),
    sa.column('user_id', sa.Uuid()),
    sa.column('role', sa.String()),
    sa.column('joined_at', storage.types.MomentColumn()),
    sa.column('expires_at', storage.types.MomentColumn()),
)
CLIENTS = sa.table('oauth_clients', sa.column('user_id', sa.Uuid()), sa.column('maker_user_id', sa.Uuid()))
CREDENTIALS = sa.table('credentials', sa.column('hash', sa.String()), sa.column('kind', sa.String()), sa.column('scopes', sa.Text()))
NEW_SCOPE = 'workspace_members:write'
# What a personal token has that may do all that one could until now; a scope that writes also reads.
EVERYTHING = frozenset(
    f'{resource}:write'
    for resource in (
        'workspaces', 'shares', 'custom_fields', 'customers', 'members', 'files', 'events', 'file_share_sessions',
        'access_tokens', 'oauth_clients', 'customer_sessions',
    )
) | {'openid', 'profile', 'email', 'user:read', 'metrics:read'}


def upgrade() -> None:
    with op.batch_alter_table('oauth_clients', schema=None) as batch_op:
        batch_op.add_column(sa.Column('maker_user_id', sa.Uuid(), nullable=True))
        batch_op.create_foreign_key(batch_op.f('fk_oauth_clients_maker_user_id_users'), 'users', ['maker_user_id'], ['id'])

    with op.batch_alter_table('workspace_members', schema=None) as batch_op:
        batch_op.add_column(sa.Column('modified_at', storage.types.MomentColumn(timezone=True), nullable=True))
        batch_op.add_column(sa.Column('role', sqlmodel.sql.sqltypes.AutoString(), nullable=False, server_default='member'))
        batch_op.add_column(sa.Column('invited_by_user_id', sa.Uuid(), nullable=True))
        batch_op.add_column(sa.Column('joined_at', storage.types.MomentColumn(timezone=True), nullable=True))
        batch_op.add_column(sa.Column('expires_at', storage.types.MomentColumn(timezone=True), nullable=True))
        batch_op.create_index(batch_op.f('ix_workspace_members_email_folded'), ['email_folded'], unique=False)
        batch_op.create_foreign_key(batch_op.f('fk_workspace_members_invited_by_user_id_users'), 'users', ['invited_by_user_id'], ['id'])

    connection = op.get_bind()
    fill(connection)
    widen_personal_tokens(connection)
    with op.batch_alter_table('workspace_members', schema=None) as batch_op:
        batch_op.alter_column('role', server_default=None)
        batch_op.create_unique_constraint(batch_op.f('uq_workspace_members_workspace_id_user_id'), ['workspace_id', 'user_id'])


def fill(connection: sa.Connection) -> None:
    """Members could do everything until now, so they are owners; invitations get the 7 days of new ones."""
    connection.execute(sa.update(CLIENTS).values(maker_user_id=CLIENTS.c.user_id))
    earlier = MEMBERS.alias()
    again = sa.exists().where(
        earlier.c.workspace_id == MEMBERS.c.workspace_id,
        earlier.c.user_id == MEMBERS.c.user_id,
        sa.tuple_(earlier.c.created_at, earlier.c.id) < sa.tuple_(MEMBERS.c.created_at, MEMBERS.c.id),
    )
    connection.execute(sa.delete(MEMBERS).where(again))
    is_member = MEMBERS.c.user_id.is_not(None)
    connection.execute(sa.update(MEMBERS).where(is_member).values(role='owner', joined_at=MEMBERS.c.created_at))
    ends = datetime.now(UTC) + timedelta(days=7)
    connection.execute(sa.update(MEMBERS).where(~is_member).values(expires_at=ends))


def widen_personal_tokens(connection: sa.Connection) -> None:
    """Tokens that may do everything go on doing so; others invite and remove nobody any more."""
    for hash, scopes in personal_tokens(connection):
        if EVERYTHING <= scopes:
            give(connection, hash, {*scopes, NEW_SCOPE})


def personal_tokens(connection: sa.Connection) -> list[tuple[str, set[str]]]:
    rows = connection.execute(sa.select(CREDENTIALS.c.hash, CREDENTIALS.c.scopes).where(CREDENTIALS.c.kind == 'pat'))
    return [(hash, set(json.loads(scopes))) for hash, scopes in rows.all()]


def give(connection: sa.Connection, hash: str, scopes: set[str]) -> None:
    text = json.dumps(sorted(scopes), separators=(',', ':'))
    connection.execute(sa.update(CREDENTIALS).where(CREDENTIALS.c.hash == hash).values(scopes=text))


def downgrade() -> None:
    connection = op.get_bind()
    for hash, scopes in personal_tokens(connection):
        if NEW_SCOPE in scopes:
            give(connection, hash, scopes - {NEW_SCOPE})
    with op.batch_alter_table('workspace_members', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('fk_workspace_members_invited_by_user_id_users'), type_='foreignkey')
        batch_op.drop_constraint(batch_op.f('uq_workspace_members_workspace_id_user_id'), type_='unique')
        batch_op.drop_index(batch_op.f('ix_workspace_members_email_folded'))
        batch_op.drop_column('expires_at')
        batch_op.drop_column('joined_at')
        batch_op.drop_column('invited_by_user_id')
        batch_op.drop_column('role')
        batch_op.drop_column('modified_at')

    with op.batch_alter_table('oauth_clients', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('fk_oauth_clients_maker_user_id_users'), type_='foreignkey')
        batch_op.drop_column('maker_user_id')
