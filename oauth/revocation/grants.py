"""Revocation of grants, and of every credential issued under them."""

from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, or_, select

from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import table_of, update_rows
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.credentials.oauth_grants import OAuthConsentRow, OAuthGrantRow

_credentials, _grants = table_of(CredentialRow), table_of(OAuthGrantRow)
_consents, _clients = table_of(OAuthConsentRow), table_of(OAuthClientRow)
_OF_GRANTS = (CredentialKind.ACCESS_TOKEN, CredentialKind.REFRESH_TOKEN, CredentialKind.AUTHORIZATION_CODE)


async def end_grants(connection: Connection, condition: ColumnElement[bool]) -> None:
    """Revoke the matching grants with their codes and tokens, which fail from their next use on.

    Grants are locked first, as in `find_issued`: one order avoids deadlocks.
    """
    moment, unrevoked = now(), condition & _grants.c.revoked_at.is_(None)
    await update_rows(connection, OAuthGrantRow, unrevoked, revoked_at=moment, ends_at=moment)
    await _revoke(connection, _credentials.c.grant_id.in_(select(_grants.c.id).where(condition)))


async def end_client(connection: Connection, oauth_client_id: UUID) -> None:
    """Revoke everything issued to the client and delete its consents."""
    await end_grants(connection, _grants.c.oauth_client_id == oauth_client_id)
    await _revoke(connection, _credentials.c.oauth_client_id == oauth_client_id)
    await connection.execute(delete(_consents).where(_consents.c.oauth_client_id == oauth_client_id))


async def end_membership(connection: Connection, user_id: UUID, workspace_id: UUID) -> None:
    """Revoke and delete what a user who leaves the workspace allowed clients for it."""
    of_both = and_(_grants.c.workspace_id == workspace_id, _grants.c.user_id == user_id)
    await end_grants(connection, of_both)
    by_user = or_(_credentials.c.maker_user_id == user_id, _credentials.c.user_id == user_id)
    kinds = _credentials.c.kind.in_([kind.value for kind in _OF_GRANTS])
    await _revoke(connection, and_(_credentials.c.workspace_id == workspace_id, by_user, kinds))
    remembered = and_(_consents.c.workspace_id == workspace_id, _consents.c.user_id == user_id)
    await connection.execute(delete(_consents).where(remembered))


async def end_creations(connection: Connection, user_id: UUID, workspace_id: UUID) -> None:
    """Revoke what the user created in the workspace: access tokens, also those created with the user's
    tokens, secrets of clients, and every grant and token of the clients that the user created.

    The clients remain, so that they can get a new secret or be deleted.
    """
    of_workspace = (_clients.c.workspace_id == workspace_id) & _clients.c.deleted_at.is_(None)
    created = select(_clients.c.id).where(of_workspace, _clients.c.maker_user_id == user_id)
    for oauth_client_id in (await connection.execute(created)).scalars().all():
        await end_client(connection, oauth_client_id)
    tokens = and_(
        _credentials.c.kind == CredentialKind.WORKSPACE_TOKEN.value,
        _credentials.c.workspace_id == workspace_id,
    )
    secrets = and_(
        _credentials.c.kind == CredentialKind.CLIENT_SECRET.value,
        _credentials.c.oauth_client_id.in_(select(_clients.c.id).where(of_workspace)),
    )
    await _revoke(connection, and_(_credentials.c.maker_user_id == user_id, or_(tokens, secrets)))


async def end_user(connection: Connection, user_id: UUID, kept: UUID | None = None) -> None:
    """Revoke every credential of the user except `kept`, and delete the user's consents."""
    await end_grants(connection, _grants.c.user_id == user_id)
    own = _credentials.c.user_id == user_id
    await _revoke(connection, own if kept is None else own & (_credentials.c.id != kept))
    await connection.execute(delete(_consents).where(_consents.c.user_id == user_id))


async def _revoke(connection: Connection, condition: ColumnElement[bool]) -> None:
    unrevoked = condition & _credentials.c.revoked_at.is_(None)
    await update_rows(connection, CredentialRow, unrevoked, revoked_at=now())
