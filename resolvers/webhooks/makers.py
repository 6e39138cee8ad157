"""What an endpoint may be told now: its creator's access may have ended or become less since."""

from uuid import UUID

from sqlalchemy import Select, select

from oauth.principals import PrincipalKind
from oauth.scopes import Scope, covers
from resolvers.changes.readable import scope_of
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.credentials.oauth_grants import OAuthConsentRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

ALL = "*"

_credentials, _clients = table_of(CredentialRow), table_of(OAuthClientRow)
_consents, _members = table_of(OAuthConsentRow), table_of(WorkspaceMemberRow)
_workspaces = table_of(WorkspaceRow)


async def present_scopes(connection: Connection, endpoint: WebhookEndpointRow) -> frozenset[Scope] | None:
    """The scopes of the endpoint that its creator still has; None if the creator has no access any more."""
    own = frozenset(map(Scope, endpoint.scopes))
    if not await _belongs(connection, endpoint):
        return None
    statement = _granted(endpoint)
    if statement is None:
        return own
    rows = [row for (row,) in await connection.execute(statement)]
    if not rows:
        return None
    granted = frozenset(Scope(scope) for scopes in rows for scope in scopes)
    return frozenset(scope for scope in own if covers(granted, scope))


def told_kinds(endpoint: WebhookEndpointRow, scopes: frozenset[Scope]) -> list[str]:
    """The kinds of changes that the endpoint is told with these scopes."""
    asked = ChangeKind if ALL in endpoint.kinds else map(ChangeKind, endpoint.kinds)
    return [kind.value for kind in asked if covers(scopes, scope_of(kind))]


async def _belongs(connection: Connection, endpoint: WebhookEndpointRow) -> bool:
    """Whether the workspace is there, and its creator, if that was a user, a member of it."""
    workspace = select(_workspaces.c.id).where(
        _workspaces.c.id == endpoint.workspace_id, _workspaces.c.deleted_at.is_(None)
    )
    if endpoint.maker_user_id is not None:
        workspace = workspace.join(_members, _members.c.workspace_id == _workspaces.c.id).where(
            _members.c.user_id == endpoint.maker_user_id
        )
    return (await connection.execute(workspace)).first() is not None


def _granted(endpoint: WebhookEndpointRow) -> Select[list[str]] | None:
    """The scopes of what the endpoint was created with; none for a browser session, which may end."""
    kind, id = endpoint.maker_kind, endpoint.maker_id
    if kind == PrincipalKind.BROWSER_SESSION:
        return None
    if kind == PrincipalKind.OAUTH_TOKEN:
        return _consented(id, endpoint)
    lives = _credentials.c.expires_at.is_(None) | (_credentials.c.expires_at > now())
    return select(_credentials.c.scopes).where(
        _credentials.c.id == id, _credentials.c.revoked_at.is_(None), lives
    )


def _consented(client_id: UUID | None, endpoint: WebhookEndpointRow) -> Select[list[str]]:
    """What the user allows the client for this workspace, or for all of the user's."""
    reach = ("user", str(endpoint.workspace_id))
    return (
        select(_consents.c.scopes)
        .join(_clients, _clients.c.id == _consents.c.oauth_client_id)
        .where(
            _consents.c.oauth_client_id == client_id,
            _consents.c.user_id == endpoint.maker_user_id,
            _consents.c.reach.in_(reach),
            _clients.c.deleted_at.is_(None),
        )
    )
