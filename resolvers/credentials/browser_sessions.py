"""Operations on browser sessions, and their begin and end."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, update

from oauth.authentication import is_live
from oauth.credentials import Credential, digest, mint
from oauth.principals import PrincipalKind
from oauth.scopes import Scope
from resolvers.credentials.access_tokens import USER_KINDS, revoke_token
from resolvers.credentials.shapes import BROWSER_SESSION
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.plans import MOMENT
from resolvers.operations.rows.reading import read_one, read_page
from schema.credentials.browser_sessions import BrowserSession, BrowserSessionQuery
from schema.kit.pages import Page
from schema.kit.sorting import CreatedAtSorting
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import insert_row, table_of, update_rows
from storage.tables.credentials.credentials import CredentialRow

LIFETIME = timedelta(days=30)
LONGEST_USER_AGENT = 512
IN_A_BROWSER = frozenset({PrincipalKind.BROWSER_SESSION})

_table = table_of(CredentialRow)
_KIND = CredentialKind.BROWSER_SESSION
LISTING = Listing(
    CredentialRow,
    CreatedAtSorting,
    default="created_at",
    query=BrowserSessionQuery,
    always=(_table.c.kind == _KIND.value, is_live(MOMENT)),
)


@requires(Scope.ACCESS_TOKENS_READ, kinds=USER_KINDS)
async def list_browser_sessions(ctx: Context, filters: BrowserSessionQuery) -> Page[BrowserSession]:
    """Lists the browsers in which the user is signed in, oldest first unless sorted otherwise."""
    return await read_page(ctx, LISTING, BROWSER_SESSION, filters)


@requires(Scope.ACCESS_TOKENS_READ, kinds=USER_KINDS)
async def get_browser_session(ctx: Context, id: UUID) -> BrowserSession:
    """Returns a browser in which the user is signed in."""
    return await read_one(ctx, CredentialRow, BROWSER_SESSION, id=id, kind=_KIND.value)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=USER_KINDS, removes=get_browser_session, causes=())
async def delete_browser_session(ctx: Context, id: UUID) -> UUID:
    """Signs the user out of a browser."""
    await revoke_token(ctx, _KIND, id)
    return id


async def start_browser_session(
    connection: Connection,
    user_id: UUID,
    address: str,
    user_agent: str | None,
    authorization_digest: str | None = None,
) -> Credential:
    """Create a session, which ends after 30 days whether or not it is used.

    `authorization_digest` names the authorization request that the user signed in for.
    """
    moment = now()
    credential = mint(_KIND)
    await insert_row(
        connection,
        CredentialRow,
        hash=credential.hash,
        kind=_KIND.value,
        scopes=[],
        user_id=user_id,
        expires_at=moment + LIFETIME,
        created_at=moment,
        authenticated_at=moment,
        authorization_digest=authorization_digest,
        address=address.removeprefix("address:"),
        user_agent=user_agent[:LONGEST_USER_AGENT] if user_agent else None,
    )
    return credential


async def reauthenticate_browser_session(connection: Connection, session_id: UUID) -> datetime:
    """Record that the session's user has just authenticated again; returns the time.

    This was not for an authorization request, so the one of the sign-in no longer counts.
    """
    moment = now()
    own = _table.c.id == session_id
    values = {"authenticated_at": moment, "authorization_digest": None}
    await connection.execute(update(_table).where(own).values(**values))
    return moment


async def end_browser_session(connection: Connection, text: str) -> None:
    """End the session whose token is this text, if there is one."""
    await _end(connection, (_table.c.hash == digest(text)) & (_table.c.kind == _KIND.value))


async def end_browser_sessions(connection: Connection, user_id: UUID, kept: UUID | None = None) -> None:
    """End every session of a user except `kept`."""
    condition = (_table.c.user_id == user_id) & (_table.c.kind == _KIND.value)
    await _end(connection, condition if kept is None else condition & (_table.c.id != kept))


async def _end(connection: Connection, condition: ColumnElement[bool]) -> None:
    await update_rows(connection, CredentialRow, condition & _table.c.revoked_at.is_(None), revoked_at=now())
