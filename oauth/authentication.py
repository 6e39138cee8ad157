"""Authentication: the principal of a credential's text."""

from collections import OrderedDict
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, bindparam, case, exists, not_, or_, select

from oauth.assumed import Assumed
from oauth.credentials import digest, kind_of
from oauth.principals import AllowList, Principal, PrincipalKind
from oauth.scopes import USER_SCOPES, Scope
from storage.clock import now
from storage.dialects.matching import IdsOf
from storage.dialects.sqlite.refusals import ChangesRefused
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.enums import CredentialKind, DocumentMode
from storage.rows.rows import table_of, update_rows
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow
from storage.workspaces.distribution import IS_CLUSTER

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
# What decides who calls and whether the credential is valid; the rest would only be read and compared.
_DECISIVE = (
    *(_credentials.c.id, _credentials.c.workspace_id, _credentials.c.user_id, _credentials.c.maker_user_id),
    *(_credentials.c.customer_id, _credentials.c.member_id, _credentials.c.scopes),
    *(_credentials.c.expires_at, _credentials.c.revoked_at, _credentials.c.last_used_at),
    *(_credentials.c.authenticated_at, _workspaces.c.requests_per_minute),
)
_LAST_USE = _DECISIVE.index(_credentials.c.last_used_at)
_OF_CREDENTIAL = (
    select(*_DECISIVE)
    .join_from(_credentials, _workspaces, _credentials.c.workspace_id == _workspaces.c.id, isouter=True)
    .where(_credentials.c.hash == bindparam("hash"), _workspaces.c.deleted_at.is_(None))
)
_LOOK_UP = Kept(_OF_CREDENTIAL)
# In their order, because only an equal row gives the same principal.
_WORKSPACE_IDS = IdsOf(
    select(_members.c.workspace_id.label("id"))
    .where(_members.c.user_id == _credentials.c.user_id)
    .order_by(_members.c.workspace_id)
    .scalar_subquery()
)
_OF_USER = _OF_CREDENTIAL.add_columns(_WORKSPACE_IDS)
_LOOK_UP_USER = Kept(_OF_USER)
# Only access tokens have a client, and a maker who may have left; asking always would double the work.
_OF_CLIENT = (_clients.c.client_id, _clients.c.id, _clients.c.document_mode, _clients.c.documents_version)
_LOOK_UP_ACCESS_TOKEN = Kept(
    _OF_USER.add_columns(_HAS_LEFT, *_OF_CLIENT)
    .join(_clients, _credentials.c.oauth_client_id == _clients.c.id, isouter=True)
    .where(_clients.c.deleted_at.is_(None))
)

_LOOK_UPS = {
    CredentialKind.ACCESS_TOKEN: _LOOK_UP_ACCESS_TOKEN,
    CredentialKind.PERSONAL_TOKEN: _LOOK_UP_USER,
    CredentialKind.BROWSER_SESSION: _LOOK_UP_USER,
}


@dataclass(frozen=True)
class _Known:
    """A credential that was looked up: the driver's row, and what was made of it.

    `has_left` says that it belongs to a user who is no longer a member of its workspace.
    """

    row: Any
    kind: CredentialKind
    principal: Principal
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    has_left: bool

    def is_valid(self, at: datetime) -> bool:
        is_expired = self.expires_at is not None and self.expires_at <= at
        return not (self.has_left or self.revoked_at or is_expired)

    def is_noted(self, at: datetime) -> bool:
        """Whether a use at that moment need not be noted."""
        return self.last_used_at is not None and at - self.last_used_at < USE_IS_NOTED_EVERY


# By the hash of the credential. Each use reads the row again, and only an equal row gives the same principal.
# One takes some 3 KB, measured with tracemalloc.
MOST_KNOWN = 2_000
_known: OrderedDict[str, _Known] = OrderedDict()


def is_live(at: datetime | ColumnElement[datetime]) -> ColumnElement[bool]:
    """The condition that a credential is valid at that moment."""
    unended = or_(_credentials.c.expires_at.is_(None), _credentials.c.expires_at > at)
    return _credentials.c.revoked_at.is_(None) & unended


def authenticate(database: Database, text: str) -> Coroutine[Any, Any, Principal | None]:
    """The principal of a bearer credential; None if it is malformed, unknown, expired or revoked.

    It is read from the primary, so a revocation takes effect with the next request in every process.
    """
    return _authenticate(database, text, BEARER_KINDS)


def assume(database: Database, text: str) -> Assumed | None:
    """A bearer credential as it was at its last use, to be looked up with what it is used for.

    None if `authenticate` has to look it up: if it is not known, has ended, or its use is to be noted; if its
    documents are looked up first; and where two statements cannot be read as one, or nothing is gained.
    """
    if database.is_cluster is not False or database.is_sqlite or database.replica is not None:
        return None
    hash, moment = digest(text), now()
    known = _known.get(hash)
    if known is None or known.kind not in BEARER_KINDS or known.principal.allow_list is not None:
        return None
    if not (known.is_valid(moment) and known.is_noted(moment)):
        return None
    look_up = _LOOK_UPS.get(known.kind, _LOOK_UP)
    return Assumed(known.principal, database, look_up, {"hash": hash}, known.row, _LAST_USE)


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
    statement = _LOOK_UPS.get(kind, _LOOK_UP)
    rows = await database.fetch(statement, {"hash": hash})
    if not rows:
        # It would be assumed again.
        _known.pop(hash, None)
        return None
    known = _known.get(hash)
    if known is None or known.row != rows[0]:
        (values,) = database.converted(statement, rows)
        known = _known[hash] = _known_from(rows[0], values, kind, kinds[kind])
        if len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
    if database.is_cluster is None:
        ((database.is_cluster,),) = await database.fetch(IS_CLUSTER, {})
    moment = now()
    if not known.is_valid(moment):
        return None
    if not known.is_noted(moment):
        await _note_use(database, hash, known.last_used_at, moment)
    return known.principal


def _known_from(row: Any, values: Sequence[Any], kind: CredentialKind, of_principal: PrincipalKind) -> _Known:
    decisive = dict(zip([column.name for column in _DECISIVE], values, strict=False))
    workspace_ids, *of_client = values[len(_DECISIVE) :] or ((),)
    has_left, client_id, *documents = of_client or (False, None)
    principal = _principal_of(decisive, of_principal, client_id, tuple(workspace_ids))
    if documents:
        principal = replace(principal, oauth_client_id=documents[0], allow_list=_allow_list(*documents))
    validity = (decisive["expires_at"], decisive["revoked_at"], decisive["last_used_at"])
    return _Known(row, kind, principal, *validity, bool(has_left))


async def _note_use(database: Database, hash: str, last: datetime | None, moment: datetime) -> None:
    """Note the use, except in a database that takes no changes now: reads go on."""
    with suppress(ChangesRefused):
        await _write_use(database, hash, last, moment)


async def _write_use(database: Database, hash: str, last: datetime | None, moment: datetime) -> None:
    async with database.write() as connection:
        is_unnoted = _credentials.c.last_used_at.is_not_distinct_from(last)
        await update_rows(
            connection,
            CredentialRow,
            (_credentials.c.hash == hash) & is_unnoted,
            last_used_at=moment,
            modified_at=_credentials.c.modified_at,
        )


@lru_cache(maxsize=256)
def _scopes(texts: tuple[str, ...]) -> frozenset[Scope]:
    """The scopes, shared by the credentials that have the same."""
    return frozenset(map(Scope, texts))


def _allow_list(id: UUID | None, mode: str | None, version: int) -> AllowList | None:
    """None without an OAuth client, and for a client whose documents are not compared."""
    if id is None or mode is None or mode == DocumentMode.OFF:
        return None
    return AllowList(id, DocumentMode(mode), version)


def _principal_of(
    decisive: Mapping[str, Any],
    kind: PrincipalKind,
    client_id: str | None,
    workspace_ids: tuple[UUID, ...],
) -> Principal:
    expires_at = decisive["expires_at"]
    return Principal(
        kind=kind,
        credential_id=decisive["id"],
        scopes=_scopes(tuple(decisive["scopes"])),
        workspace_id=decisive["workspace_id"],
        user_id=decisive["user_id"],
        workspace_ids=workspace_ids,
        maker_user_id=decisive["maker_user_id"],
        customer_id=decisive["customer_id"],
        member_id=decisive["member_id"],
        client_id=client_id,
        expires_at_stamp=expires_at.timestamp() if expires_at else None,
        requests_per_minute=decisive["requests_per_minute"],
        authenticated_at=decisive["authenticated_at"],
    )
