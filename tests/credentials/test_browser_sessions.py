"""The browsers in which a user is signed in, listed and ended over both surfaces."""

from uuid import UUID

import pytest_asyncio
from sqlalchemy import delete

from resolvers.webhooks.makers import present_scopes
from storage.rows.rows import one, table_of
from storage.tables.webhooks.endpoints import WebhookEndpointRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow
from tests.support.callers.refusals import refused
from tests.support.callers.world import WEBHOOK
from tests.support.servers.gateways import start_session

_endpoints = table_of(WebhookEndpointRow)


@pytest_asyncio.fixture
async def user(caller, tenant):
    return caller(tenant.personal_token)


async def test_a_user_sees_where_they_are_signed_in(user, gateway, tenant, other_tenant):
    await start_session(gateway, tenant.user_id)
    await start_session(gateway, tenant.user_id, "x" * 1000)
    await start_session(gateway, other_tenant.user_id)
    first, second = (await user.list_browser_sessions())["data"]
    assert (first["address"], first["user_agent"]) == ("192.0.2.1", "A browser")
    assert first["user_id"] == tenant.user_id
    assert second["user_agent"] == "x" * 512
    assert await user.get_browser_session(id=first["id"]) == first


async def test_ending_a_session_signs_its_browser_out(user, gateway, tenant):
    session = await start_session(gateway, tenant.user_id)
    headers = {"Cookie": f"duograph_session={session.text}", "Sec-Fetch-Site": "same-origin"}
    assert (await gateway.client.get("/api/viewer", headers=headers)).status_code == 200
    (listed,) = (await user.list_browser_sessions())["data"]
    await user.delete_browser_session(id=listed["id"])
    assert (await gateway.client.get("/api/viewer", headers=headers)).status_code == 401
    assert (await user.list_browser_sessions())["data"] == []
    await refused(user.get_browser_session(id=listed["id"]), 404, "not_found")


async def test_a_session_is_not_a_personal_token(user, gateway, tenant):
    await start_session(gateway, tenant.user_id)
    (listed,) = (await user.list_browser_sessions())["data"]
    await refused(user.get_personal_access_token(id=listed["id"]), 404, "not_found")
    tokens = (await user.list_personal_access_tokens())["data"]
    assert listed["id"] not in [token["id"] for token in tokens]


async def test_a_session_is_no_bearer_token_and_a_bearer_token_no_session(gateway, tenant):
    session = (await start_session(gateway, tenant.user_id)).text

    async def status(**headers):
        asked = {"Sec-Fetch-Site": "same-origin", **headers}
        return (await gateway.client.get("/api/viewer", headers=asked)).status_code

    # A process knows what it has seen once.
    for _ in range(2):
        assert await status(Authorization=f"Bearer {session}") == 401
        assert await status(Cookie=f"duograph_session={tenant.personal_token}") == 401
        assert await status(Cookie=f"duograph_session={session}") == 200
        assert await status(Authorization=f"Bearer {tenant.personal_token}") == 200


async def test_a_webhook_endpoint_outlives_the_session_that_made_it(user, gateway, tenant):
    """It is its user's, and ends with the user's membership."""
    session = await start_session(gateway, tenant.user_id)
    made = await user.in_browser(session).create_webhook_endpoint(data=WEBHOOK | {"workspace_id": tenant.id})
    id = UUID((made.get("webhook_endpoint") or made)["id"])
    own = (_endpoints.c.workspace_id == UUID(tenant.id), _endpoints.c.id == id)

    async def scopes():
        async with gateway.database.read() as connection:
            endpoint = await one(connection, WebhookEndpointRow, *own)
            return endpoint.scopes, await present_scopes(connection, endpoint)

    (listed,) = (await user.list_browser_sessions())["data"]
    await user.delete_browser_session(id=listed["id"])
    given, present = await scopes()
    assert present == set(given)
    members = table_of(WorkspaceMemberRow)
    async with gateway.database.write() as connection:
        await connection.execute(delete(members).where(members.c.user_id == UUID(tenant.user_id)))
    assert (await scopes())[1] is None
