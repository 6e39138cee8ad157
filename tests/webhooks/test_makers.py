"""An endpoint is told no more than its creator can still read."""

from oauth.scopes import Scope
from tests.support.measures.patience import until
from tests.support.servers.gateways import make_token
from tests.support.tenants.membership import make_member
from tests.webhooks.test_deliveries import add_endpoint, create_share


async def test_an_endpoint_ends_with_the_token_that_made_it(sender, sending_tenant, workspace, receiver):
    text = await make_token(sender, sending_tenant, Scope.WEBHOOKS_WRITE, Scope.SHARES_READ)
    made = await add_endpoint(workspace.with_token(text), receiver, "share.created")
    tokens = (await workspace.list_workspace_access_tokens())["data"]
    (own,) = (each for each in tokens if "webhooks:write" in each["scopes"] and len(each["scopes"]) == 2)
    await workspace.delete_workspace_access_token(id=own["id"])
    await create_share(workspace)

    async def disabled():
        endpoint = await workspace.get_webhook_endpoint(id=made["webhook_endpoint"]["id"])
        return None if endpoint["is_enabled"] else endpoint

    assert "creator" in (await until(disabled))["disabled_reason"]
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

    async def disabled():
        endpoint = await workspace.get_webhook_endpoint(id=made["id"])
        return None if endpoint["is_enabled"] else endpoint

    assert "creator" in (await until(disabled))["disabled_reason"]
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

    async def disabled():
        endpoint = await workspace.get_webhook_endpoint(id=made["webhook_endpoint"]["id"])
        return None if endpoint["is_enabled"] else endpoint

    assert "creator" in (await until(disabled))["disabled_reason"]
    assert receiver.received == []
