"""The credentials that `serve --demo` prints: the same ones at each start.

They are derived from the secret key, because a database has only their hashes. Nothing is kept beside it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

import structlog

from gateway.cli.demo.data import DAYS, SESSIONS
from gateway.cli.demo.demo import SLUG, email_of, issue_workspace_token, make_workspace
from gateway.cli.demo.files import add_files, add_purchases
from gateway.cli.demo.writer import write_activity
from gateway.cli.kit.as_user import in_place_of_workspace
from gateway.settings.settings import Settings
from oauth.credentials import Credential, mint_from
from oauth.scopes import WORKSPACE_SCOPES
from oauth.sign_in.passwords import hash_password, verify_password
from resolvers.accounts.users import find_user
from resolvers.workspaces.administration import find_workspace
from storage.clock import now
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.enums import CredentialKind
from storage.rows.rows import first, table_of, update_row
from storage.sealing import Purpose, sign
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.workspaces.workspaces import WorkspaceRow

TOKEN_LIFE = timedelta(days=30)
# A token that would expire sooner is not printed again.
LEAST_LEFT = timedelta(days=7)
PASSWORD_LENGTH = 16

log = structlog.get_logger()
_credentials = table_of(CredentialRow)


@dataclass(frozen=True)
class Entry:
    """Credentials for the workspace `demo`; without a password if the demo user does not exist."""

    workspace_token: str
    token_expires_at: datetime
    email: str
    password: str | None


async def enter_demo(settings: Settings, database: Database) -> Entry:
    """The credentials of the workspace `demo`, which is created if it is missing.

    The demo user gets the printed password again if it was changed. The token is replaced when it has less
    than a week left.
    """
    secret, email = settings.secret(), email_of(SLUG)
    password = sign(secret, Purpose.DEMO, "password")[:PASSWORD_LENGTH]
    async with database.write() as connection:
        workspace = await find_workspace(connection, SLUG)
        is_new = workspace is None
        if workspace is None:
            log.info("creating the demo workspace", sessions=SESSIONS, days=DAYS)
            _, workspace = await make_workspace(connection, settings, database, SLUG, password)
        user = await find_user(connection, email)
        if user is not None and not verify_password(password, user.password_hash):
            await update_row(connection, UserRow, user, password_hash=hash_password(password))
        token, row = await _token(connection, secret, workspace)
    if is_new:
        ctx = in_place_of_workspace(workspace.id, settings, database)
        await add_files(ctx)
        await add_purchases(ctx)
        await write_activity(ctx, workspace.id, SESSIONS, DAYS)
    return Entry(token.text, row.expires_at or now(), email, password if user else None)


async def _token(
    connection: Connection, secret: bytes, workspace: WorkspaceRow
) -> tuple[Credential, CredentialRow]:
    """The latest token of earlier starts, with the scopes of this version, or a new one."""
    for number in count():
        token = _numbered(secret, workspace, number)
        row = await first(connection, CredentialRow, _credentials.c.hash == token.hash)
        if row is None:
            break
        if row.revoked_at is None and row.expires_at is not None and row.expires_at - now() > LEAST_LEFT:
            scopes = sorted(scope.value for scope in WORKSPACE_SCOPES)
            return token, await update_row(connection, CredentialRow, row, scopes=scopes)
    return await issue_workspace_token(connection, workspace, credential=token, expires_in=TOKEN_LIFE)


def _numbered(secret: bytes, workspace: WorkspaceRow, number: int) -> Credential:
    signature = sign(secret, Purpose.DEMO, "token", str(workspace.id), str(number))
    return mint_from(CredentialKind.WORKSPACE_TOKEN, signature)
