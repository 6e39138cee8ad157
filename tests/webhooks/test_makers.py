"""An endpoint is told no more than its creator can still read."""

from functools import partial
from time import monotonic
from uuid import UUID

import pytest

from gateway.webhooks import delivery, permission
from oauth.scopes import Scope
from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.webhooks.deliveries import WebhookDeliveryRow
from tests.support.measures.patience import until
from tests.support.servers.gateways import make_token
from tests.support.servers.receiver import accept
from tests.support.tenants.applications import make_application
from tests.support.tenants.membership import make_member
from tests.webhooks.test_deliveries import (
    add_endpoint,
    change,
    create_share,
    rewind,
    when,
    when_attempted,
)
from tests.webhooks.test_health import refuse


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


async def revoke_newest_token(workspace, tenant):
    listed = (await workspace.list_workspace_access_tokens(sorting="-created_at"))["data"]
    own = workspace.with_token(tenant.personal_token)
    await own.delete_workspace_access_token(id=listed[0]["id"])


@pytest.fixture
async def meanwhile(workspace, receiver, monkeypatch):
    """Three shares, and a receiver so slow that a check passes at the second: one more is claimed with it.

    A function is called then, which the test appends.
    """
    later, called = 0, []

    async def answer(received):
        nonlocal later
        if len(receiver.received) == 2:
            await called[0]()
            later = permission.SECONDS_BETWEEN_CHECKS
        return await accept(received)

    for name, value in {"AT_A_TIME": 1, "MOST_CLAIMED": 2, "QUICK_SECONDS": 1e9}.items():
        monkeypatch.setattr(delivery, name, value)
    monkeypatch.setattr(permission, "monotonic", lambda: monotonic() + later)
    receiver.answer = answer
    for _ in range(3):
        await create_share(workspace)
    return called


async def test_what_is_claimed_already_is_not_sent_after_the_token_was_revoked(
    sender, sending_tenant, workspace, receiver, meanwhile
):
    text = await make_token(sender, sending_tenant, Scope.WEBHOOKS_WRITE, Scope.SHARES_READ)
    meanwhile.append(partial(revoke_newest_token, workspace, sending_tenant))
    made = await add_endpoint(workspace.with_token(text), receiver, "share.created")
    await rewind(sender, made)
    await has_ended(workspace, made["webhook_endpoint"])
    assert len(receiver.received) == 2


@pytest.mark.parametrize(("changed", "last"), [({"is_enabled": False}, "skipped"), ({}, "succeeded")])
async def test_what_is_claimed_already_is_not_sent_to_an_endpoint_that_was_turned_off_or_away(
    sender, workspace, receiver, meanwhile, changed, last
):
    made = await add_endpoint(workspace, receiver, "share.created")
    data = changed or {"url": f"{receiver.url}/other"}
    id = made["webhook_endpoint"]["id"]
    meanwhile.append(partial(workspace.update_webhook_endpoint, id=id, data=data))
    await rewind(sender, made)
    states = ["succeeded", "succeeded", last]
    await when(sender, made, lambda rows: [row.status for row in rows] == states)
    paths = [received.path for received in receiver.received]
    assert paths == ["/hooks", "/hooks", "/hooks/other"][: states.count("succeeded")]


async def test_an_endpoint_ends_before_a_retry_that_its_token_may_no_longer_read(
    sender, sending_tenant, workspace, receiver
):
    receiver.answer = refuse
    text = await make_token(sender, sending_tenant, Scope.WEBHOOKS_WRITE, Scope.SHARES_READ)
    made = await add_endpoint(workspace.with_token(text), receiver, "share.created")
    await create_share(workspace)
    row, _ = await when_attempted(sender, made)
    await revoke_newest_token(workspace, sending_tenant)
    await change(sender, table_of(WebhookDeliveryRow), row, due_at=now())
    await has_ended(workspace, made["webhook_endpoint"])
    assert len(receiver.received) == 1
