"""An endpoint is told no more than its creator can still read."""

from time import monotonic
from uuid import UUID

import pytest

from gateway.webhooks import delivery, permission
from oauth.scopes import Scope
from tests.support.measures.patience import until
from tests.support.servers.gateways import make_token
from tests.support.servers.receiver import accept
from tests.support.tenants.applications import make_application
from tests.support.tenants.membership import make_member
from tests.webhooks.test_deliveries import add_endpoint, create_share, rewind


async def has_ended(workspace, made):
    """Waits until the endpoint is disabled, because its creator has no access any more."""

    async def disabled():
        endpoint = await workspace.get_webhook_endpoint(id=made["id"])
        return None if endpoint["is_enabled"] else endpoint

    assert "creator" in (await until(disabled))["disabled_reason"]


async def test_an_endpoint_ends_with_the_token_that_made_it(sender, sending_tenant, workspace, receiver):
    text = await make_token(sender, sending_tenant, Scope.WEBHOOKS_WRITE, Scope.SHARES_READ)
    made = await add_endpoint(workspace.with_token(text), receiver, "share.created")
    tokens = (await workspace.list_workspace_access_tokens())["data"]
    (own,) = (each for each in tokens if "webhooks:write" in each["scopes"] and len(each["scopes"]) == 2)
    await workspace.delete_workspace_access_token(id=own["id"])
    await create_share(workspace)
    await has_ended(workspace, made["webhook_endpoint"])
    assert receiver.received == []


async def test_an_endpoint_ends_with_the_token_that_turned_it_to_another_url(
    sender, sending_tenant, workspace, receiver
):
    made = (await add_endpoint(workspace, receiver, "share.created"))["webhook_endpoint"]
    scopes = [Scope.WEBHOOKS_WRITE, *map(Scope, made["scopes"])]
    text = await make_token(sender, sending_tenant, *scopes)
    own = workspace.with_token(text)
    await own.update_webhook_endpoint(id=made["id"], data={"url": f"{receiver.url}/of-the-token"})
    tokens = (await workspace.list_workspace_access_tokens(sorting="-created_at"))["data"]
    await workspace.delete_workspace_access_token(id=tokens[0]["id"])
    await create_share(workspace)
    await has_ended(workspace, made)
    assert receiver.received == []


async def test_an_endpoint_is_told_what_its_token_still_reads(sender, sending_tenant, workspace, receiver):
    scopes = (Scope.WEBHOOKS_WRITE, Scope.SHARES_READ, Scope.CUSTOMERS_READ)
    text = await make_token(sender, sending_tenant, *scopes)
    await add_endpoint(workspace.with_token(text), receiver)
    tokens = (await workspace.list_workspace_access_tokens())["data"]
    (own,) = (each for each in tokens if len(each["scopes"]) == len(scopes))
    left = ["webhooks:write", "customers:read"]
    personal = workspace.with_token(sending_tenant.personal_token)
    await personal.update_workspace_access_token(id=own["id"], data={"scopes": left})
    await create_share(workspace)
    await workspace.create_customer(data={"email": "ada@example.com"})

    async def told():
        return receiver.received

    assert {each.content["type"] for each in await until(told)} <= {"customer.created", "member.created"}


async def test_an_endpoint_ends_with_the_membership_of_its_creator(
    sender, sending_tenant, workspace, receiver
):
    member = await make_member(sender, sending_tenant, "owner")
    own = workspace.with_token(member.token)
    data = {"url": receiver.url, "kinds": ["share.created"], "workspace_id": sending_tenant.id}
    made = await own.create_webhook_endpoint(data=data)
    await workspace.with_token(sending_tenant.personal_token).remove_workspace_member(id=member.member_id)
    await create_share(workspace)
    await has_ended(workspace, made["webhook_endpoint"])
    assert receiver.received == []


@pytest.mark.parametrize("ending", ["consent", "client"])
async def test_an_endpoint_ends_with_the_application_that_made_it(
    sender, sending_tenant, workspace, receiver, ending
):
    client = await make_application(sender, UUID(sending_tenant.id), UUID(sending_tenant.user_id))
    tokens = await client.tokens(sending_tenant, scope="webhooks:write shares:read")
    made = await add_endpoint(workspace.with_token(tokens["access_token"]), receiver, "share.created")
    owner = workspace.with_token(sending_tenant.personal_token)
    if ending == "consent":
        (application,) = (await owner.list_authorized_applications())["data"]
        await owner.revoke_authorized_application(id=application["id"])
    else:
        await owner.delete_oauth_client(id=str(client.id))
    await create_share(workspace)
    await has_ended(workspace, made["webhook_endpoint"])
    assert receiver.received == []


async def test_what_is_claimed_already_is_not_sent_after_the_token_was_revoked(
    sender, sending_tenant, workspace, receiver, monkeypatch
):
    """A slow receiver has its next ones wait for seconds, in which the token may be revoked."""
    later = 0
    tokens = workspace.with_token(sending_tenant.personal_token)
    text = await make_token(sender, sending_tenant, Scope.WEBHOOKS_WRITE, Scope.SHARES_READ)

    async def answer(received):
        nonlocal later
        if len(receiver.received) == 2:
            # One more was claimed with this one.
            listed = (await workspace.list_workspace_access_tokens(sorting="-created_at"))["data"]
            await tokens.delete_workspace_access_token(id=listed[0]["id"])
            later = permission.SECONDS_BETWEEN_CHECKS
        return await accept(received)

    for name, value in {"AT_A_TIME": 1, "MOST_CLAIMED": 2, "QUICK_SECONDS": 1e9}.items():
        monkeypatch.setattr(delivery, name, value)
    monkeypatch.setattr(permission, "monotonic", lambda: monotonic() + later)
    receiver.answer = answer
    for _ in range(3):
        await create_share(workspace)
    made = await add_endpoint(workspace.with_token(text), receiver, "share.created")
    await rewind(sender, made)
    await has_ended(workspace, made["webhook_endpoint"])
    assert len(receiver.received) == 2
