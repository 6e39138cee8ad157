"""Consents: what users have allowed clients; only more scopes need another consent."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import delete

from oauth.revocation.grants import end_grants
from storage.engine.connections import Connection
from storage.rows.rows import every, insert_new_rows, key_of, one, table_of, update_row
from storage.tables.credentials.oauth_grants import OAuthConsentRow, OAuthGrantRow

USER_REACH = "user"

_consents, _grants = table_of(OAuthConsentRow), table_of(OAuthGrantRow)


async def find_consents(
    connection: Connection, user_id: UUID, oauth_client_id: UUID
) -> list[OAuthConsentRow]:
    """The user's consents to the client: at most one for the user and one for each workspace."""
    of_user, of_client = _consents.c.user_id == user_id, _consents.c.oauth_client_id == oauth_client_id
    return await every(connection, OAuthConsentRow, of_user, of_client)


async def remember(
    connection: Connection,
    user_id: UUID,
    oauth_client_id: UUID,
    workspace_id: UUID | None,
    scopes: Iterable[str],
) -> None:
    """Add these scopes to what the user has allowed the client."""
    reach = str(workspace_id or USER_REACH)
    identity = {"user_id": user_id, "oauth_client_id": oauth_client_id, "reach": reach}
    new = {**identity, "workspace_id": workspace_id, "scopes": sorted(scopes)}
    if await insert_new_rows(connection, OAuthConsentRow, [new]):
        return
    same = [_consents.c[name] == value for name, value in identity.items()]
    row = await one(connection, OAuthConsentRow, *same, lock=True)
    wider = sorted({*row.scopes, *scopes})
    if wider != row.scopes:
        await update_row(connection, OAuthConsentRow, row, scopes=wider)


async def forget(connection: Connection, consent: OAuthConsentRow) -> None:
    """Withdraw a consent and revoke everything granted under it."""
    under_it = (
        (_grants.c.oauth_client_id == consent.oauth_client_id)
        & (_grants.c.user_id == consent.user_id)
        & _grants.c.workspace_id.is_not_distinct_from(consent.workspace_id)
    )
    await end_grants(connection, under_it)
    await connection.execute(delete(_consents).where(key_of(OAuthConsentRow, consent)))
