"""Deleting users: no row refers to them afterwards, whatever they did."""

from datetime import UTC, datetime
from uuid import UUID

from oauth.credentials import mint
from resolvers.accounts.users import delete_user, find_user
from resolvers.credentials.browser_sessions import start_browser_session
from resolvers.credentials.oauth_clients import create_client, delete_client
from resolvers.workspaces.memberships import invite
from schema.credentials.oauth_clients import OAuthClientCreate
from storage.enums import CredentialKind, WorkspaceRole
from storage.rows.rows import delete_rows, insert_row, table_of
from storage.tables.accounts.second_factors import TotpSecretRow
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_grants import OAuthConsentRow, OAuthGrantRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow
from tests.support.servers.gateways import make_tenant
from tests.support.tenants.membership import references_to

NOW = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
_members = table_of(WorkspaceMemberRow)


async def allow(connection, user_id, workspace_id):
    """What the user would have left by allowing a client of their own to act for the workspace."""
    data = OAuthClientCreate(name="Books", redirect_uris=["https://app.example.com/"], scopes=["shares:read"])
    _, client = await create_client(connection, data, user_id=user_id, maker_user_id=user_id)
    both = {"oauth_client_id": client.id, "user_id": user_id, "scopes": ["shares:read"]}
    grant = await insert_row(
        connection,
        OAuthGrantRow,
        **both,
        workspace_id=workspace_id,
        redirect_uri="https://app.example.com/",
        authenticated_at=NOW,
    )
    await insert_row(connection, OAuthConsentRow, **both, workspace_id=workspace_id, reach=str(workspace_id))
    await insert_row(
        connection,
        CredentialRow,
        hash=mint(CredentialKind.ACCESS_TOKEN).hash,
        kind=CredentialKind.ACCESS_TOKEN.value,
        scopes=["shares:read"],
        workspace_id=workspace_id,
        maker_user_id=user_id,
        oauth_client_id=client.id,
        grant_id=grant.id,
    )
    return client


async def test_nothing_refers_to_a_deleted_user(gateway, tenant):
    user_id, workspace_id = UUID(tenant.user_id), UUID(tenant.id)
    others = await make_tenant(gateway)
    async with gateway.database.write() as connection:
        await start_browser_session(connection, user_id, "address:192.0.2.1", "A browser")
        await insert_row(connection, TotpSecretRow, user_id=user_id, sealed="", last_step=0)
        await invite(connection, workspace_id, "alex@example.com", WorkspaceRole.MEMBER, user_id)
        client = await allow(connection, user_id, workspace_id)
    async with gateway.database.write() as connection:
        await delete_client(connection, client)
        await delete_rows(connection, WorkspaceMemberRow, _members.c.user_id == user_id)
        await delete_user(connection, await find_user(connection, tenant.user_email))
    assert await references_to(gateway, user_id) == []
    async with gateway.database.read() as connection:
        assert await find_user(connection, tenant.user_email) is None
        assert await find_user(connection, others.user_email) is not None
