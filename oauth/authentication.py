"""Authentication: the principal of a credential's text."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, exists, not_, or_, select

from oauth.credentials import digest, kind_of
from oauth.principals import Principal, PrincipalKind
from oauth.scopes import USER_SCOPES, Scope
from storage.clock import now
from storage.database import Database
from storage.enums import CredentialKind
from storage.kept import Kept
from storage.rows import changed, read, table_of, update_rows
from storage.tables.credentials import CredentialRow
from storage.tables.oauth_clients import OAuthClientRow
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

BEARER_KINDS = {
    CredentialKind.WORKSPACE_TOKEN: PrincipalKind.WORKSPACE_TOKEN,
    CredentialKind.PERSONAL_TOKEN: PrincipalKind.PERSONAL_TOKEN,
    CredentialKind.ACCESS_TOKEN: PrincipalKind.OAUTH_TOKEN,
    CredentialKind.CUSTOMER_SESSION: PrincipalKind.CUSTOMER_SESSION,
}
SESSION_KINDS = {CredentialKind.BROWSER_SESSION: PrincipalKind.BROWSER_SESSION}
USE_IS_NOTED_EVERY = timedelta(minutes=1)

_credentials, _workspaces = table_of(CredentialRow), table_of(WorkspaceRow)
_clients, _members = table_of(OAuthClientRow), table_of(WorkspaceMemberRow)
# An OAuth token for a workspace is valid only while the user who granted it is a member.
_IS_MEMBER = exists().where(
    _members.c.user_id == _credentials.c.maker_user_id,
    _members.c.workspace_id == _credentials.c.workspace_id,
)
_HAS_LEFT = case(
    (
        (_credentials.c.kind == CredentialKind.ACCESS_TOKEN.value)
        & _credentials.c.workspace_id.is_not(None)
        & not_(_IS_MEMBER),
        True,
    ),
    else_=False,
)
_OF_CREDENTIAL = (
    select(_credentials, _workspaces.c.requests_per_minute)
    .join_from(_credentials, _workspaces, _credentials.c.workspace_id == _workspaces.c.id, isouter=True)
    .where(_credentials.c.hash == bindparam("hash"))
)
_LOOK_UP = Kept(_OF_CREDENTIAL)
# Only access tokens have a client, and a maker who may have left; asking always would double the work.
_LOOK_UP_ACCESS_TOKEN = Kept(
    _OF_CREDENTIAL.add_columns(_clients.c.client_id, _HAS_LEFT).join(
        _clients, _credentials.c.oauth_client_id == _clients.c.id, isouter=True
    )
)


@dataclass(frozen=True)
class _Known:
    """A credential that was looked up: the driver's row, and what was made of it."""

    row: Any
    kind: CredentialKind
    credential: CredentialRow
    principal: Principal
    has_left: bool


# By the hash of the credential. Each use reads the row again, and only an equal row gives the same principal.
# One takes some 3 KB, measured with tracemalloc.
MOST_KNOWN = 2_000
_known: OrderedDict[str, _Known] = OrderedDict()


def is_live(at: datetime | ColumnElement[datetime]) -> ColumnElement[bool]:
    """The condition that a credential is valid at that moment."""
    unended = or_(_credentials.c.expires_at.is_(None), _credentials.c.expires_at > at)
    return _credentials.c.revoked_at.is_(None) & unended


async def authenticate(database: Database, text: str) -> Principal | None:
    """The principal of a bearer credential; None if it is malformed, unknown, expired or revoked.

    It is read from the primary, so a revocation takes effect with the next request in every process.
    """
    return await _authenticate(database, text, BEARER_KINDS)


async def authenticate_session(database: Database, text: str) -> Principal | None:
    """The principal of the session in a browser's cookie, which is not a bearer credential.

    It has all scopes of a user, also those added after the sign-in.
    """
    principal = await _authenticate(database, text, SESSION_KINDS)
    return None if principal is None else replace(principal, scopes=USER_SCOPES)


async def _authenticate(
    database: Database, text: str, kinds: Mapping[CredentialKind, PrincipalKind]
) -> Principal | None:
    hash = digest(text)
    known = _known.get(hash)
    kind = kind_of(text) if known is None else known.kind
    if kind is None or kind not in kinds:
        return None
    known = await _look_up(database, hash, kind, kinds[kind])
    if known is None or known.has_left:
        return None
    credential, moment = known.credential, now()
    if credential.revoked_at or (credential.expires_at and credential.expires_at <= moment):
        return None
    if credential.last_used_at is None or moment - credential.last_used_at >= USE_IS_NOTED_EVERY:
        await _note_use(database, credential, moment)
    return known.principal


async def _look_up(
    database: Database, hash: str, kind: CredentialKind, of_principal: PrincipalKind
) -> _Known | None:
    """What is known of a credential, once its row has been read again."""
    statement = _LOOK_UP_ACCESS_TOKEN if kind is CredentialKind.ACCESS_TOKEN else _LOOK_UP
    rows = await database.fetch(statement, {"hash": hash})
    if not rows:
        return None
    known = _known.get(hash)
    if known is None or known.row != rows[0]:
        (values,) = database.converted(statement, rows)
        known = _known[hash] = _known_from(rows[0], values, kind, of_principal)
        if len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
    return known


def _known_from(row: Any, values: Sequence[Any], kind: CredentialKind, of_principal: PrincipalKind) -> _Known:
    requests_per_minute, *of_access_token = values[len(_credentials.c) :]
    client_id, has_left = of_access_token or (None, False)
    credential = read(CredentialRow, values)
    principal = _principal_of(credential, of_principal, client_id, requests_per_minute)
    # The scopes are the largest part; the principal has them.
    return _Known(row, kind, changed(credential, scopes=[]), principal, bool(has_left))


async def _note_use(database: Database, credential: CredentialRow, moment: datetime) -> None:
    async with database.write() as connection:
        stale = _credentials.c.last_used_at.is_not_distinct_from(credential.last_used_at)
        await update_rows(
            connection,
            CredentialRow,
            (_credentials.c.hash == credential.hash) & stale,
            last_used_at=moment,
            modified_at=credential.modified_at,
        )


@lru_cache(maxsize=256)
def _scopes(texts: tuple[str, ...]) -> frozenset[Scope]:
    """The scopes, shared by the credentials that have the same."""
    return frozenset(map(Scope, texts))


def _principal_of(
    row: CredentialRow, kind: PrincipalKind, client_id: str | None, requests_per_minute: int | None
) -> Principal:
    return Principal(
        kind=kind,
        credential_id=row.id,
        scopes=_scopes(tuple(row.scopes)),
        workspace_id=row.workspace_id,
        user_id=row.user_id,
        maker_user_id=row.maker_user_id,
        customer_id=row.customer_id,
        member_id=row.member_id,
        client_id=client_id,
        expires_at_stamp=row.expires_at.timestamp() if row.expires_at else None,
        requests_per_minute=requests_per_minute,
        authenticated_at=row.authenticated_at,
    )
