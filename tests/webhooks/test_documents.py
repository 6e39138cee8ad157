"""Payloads that a GraphQL document of the endpoint chooses."""

from uuid import UUID

import orjson
import pytest

from oauth.scopes import Scope
from resolvers.graph.http import stored_documents
from tests.support.callers.examples import FREE
from tests.support.callers.refusals import refusal
from tests.support.callers.world import WEBHOOK
from tests.support.servers.gateways import make_token
from tests.support.tenants.applications import make_application
from tests.webhooks.test_deliveries import create_share, every, when

NAMES = "query Names($id: ID!) { share(id: $id) { name workspace { slug } } }"
FEED = "{ shares(limit: 1) { data { name } } }"
ANY = "query ($id: ID!) { node(id: $id) { __typename ... on Customer { email } ... on Share { name } } }"
ALIASES = " ".join(f"a{number}: shares {{ data {{ id }} }}" for number in range(101))


async def add(workspace, receiver, document, *kinds):
    data = {"url": receiver.url, "kinds": list(kinds) or ["share.created"], "document": document}
    return await workspace.create_webhook_endpoint(data=data)


async def test_a_document_chooses_the_data(sender, sending_tenant, workspace, receiver):
    made = await add(workspace, receiver, NAMES)
    assert made["webhook_endpoint"]["document"] == NAMES
    await create_share(workspace)
    await when(sender, made, every("succeeded"))
    (received,) = receiver.received
    content = received.verified(made["secret"])
    assert content["type"] == "share.created"
    assert content["data"] == {"share": {"name": "A report", "workspace": {"slug": sending_tenant.slug}}}
    assert "errors" not in content


@pytest.mark.parametrize(
    ("document", "data"),
    [
        (FEED, {"shares": {"data": [{"name": "A report"}]}}),
        (ANY, {"node": {"__typename": "Share", "name": "A report"}}),
    ],
)
async def test_it_may_read_what_it_likes_with_or_without_the_id(sender, workspace, receiver, document, data):
    made = await add(workspace, receiver, document)
    await create_share(workspace)
    await when(sender, made, every("succeeded"))
    assert receiver.received[0].content["data"] == data


async def test_an_error_stands_beside_the_data(sender, workspace, receiver):
    made = await add(workspace, receiver, NAMES, "customer.created")
    await workspace.create_customer(data={"email": "ada@example.com"})
    await when(sender, made, every("succeeded"))
    content = receiver.received[0].content
    assert content["data"] == {"share": None}
    (error,) = content["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["share"], "not_found")


async def test_a_batch_which_has_no_id_tells_its_count(sender, workspace, receiver):
    made = await add(workspace, receiver, NAMES, "events.ingested")
    await workspace.ingest_events(data={"events": [{"name": "opened"}, {"name": "opened"}]})
    await when(sender, made, every("succeeded"))
    assert receiver.received[0].content["data"] == {"count": 2}


async def test_it_reads_what_its_creator_could_read_and_no_more(sender, sending_tenant, workspace, receiver):
    narrow = workspace.with_token(
        await make_token(sender, sending_tenant, Scope.WEBHOOKS_WRITE, Scope.SHARES_READ)
    )
    data = {"url": receiver.url, "kinds": ["share.created"]}
    everyone = "{ customers { data { email } } }"
    asked = narrow.create_webhook_endpoint(data=data | {"document": everyone})
    assert await refusal(asked) == {("document",): "wider"}
    made = await narrow.create_webhook_endpoint(data=data | {"document": FEED})
    id = made["webhook_endpoint"]["id"]
    # The endpoint has the scopes of its creator, whoever changes it.
    widening = workspace.update_webhook_endpoint(id=id, data={"document": everyone})
    assert await refusal(widening) == {("document",): "wider"}


async def test_what_a_document_reads_needs_all_scopes_of_the_endpoint(
    sender, sending_tenant, workspace, receiver
):
    made = await add(workspace, receiver, "{ customers { data { email } } }")
    await workspace.create_customer(data={"email": "ada@example.com"})
    await create_share(workspace)
    await when(sender, made, every("succeeded"))
    (delivery,) = (await workspace.list_webhook_deliveries())["data"]
    narrow = workspace.with_token(
        await make_token(sender, sending_tenant, Scope.WEBHOOKS_READ, Scope.SHARES_READ)
    )
    (attempt,) = (await narrow.get_webhook_delivery(id=delivery["id"]))["attempts"]
    assert (attempt["request_body"], attempt["response_body"], attempt["status"]) == (None, None, 200)
    assert attempt["scopes"] == made["webhook_endpoint"]["scopes"]
    (attempt,) = (await workspace.get_webhook_delivery(id=delivery["id"]))["attempts"]
    assert "ada@example.com" in attempt["request_body"]


async def test_a_document_is_taken_off(surface):
    made = await surface.create_webhook_endpoint(data=WEBHOOK | {"document": FEED})
    id = made["webhook_endpoint"]["id"]
    assert (await surface.update_webhook_endpoint(id=id, data={"description": "a"}))["document"] == FEED
    assert (await surface.update_webhook_endpoint(id=id, data={"document": None}))["document"] is None


@pytest.mark.parametrize(
    "document",
    [
        "{ shares",
        "{ nothing }",
        "{ shares { data { nothing } } }",
        'mutation { createShare(data: {name: "a"}) { id } }',
        f"{FEED} query Other {FEED}",
        "query A { viewer { kind } } query B { viewer { kind } }",
        "query ($id: ID) { share(id: $id) { name } }",
        "query ($id: String!) { share(id: $id) { name } }",
        "query ($other: ID!) { share(id: $other) { name } }",
        "query ($id: ID!, $limit: Int) { share(id: $id) { name } shares(limit: $limit) { data { id } } }",
        "query ($id: ID!) { share { name } }",
        "{ " + ALIASES + " }",
        "fragment F on Share { name }",
        "x" * 8193,
        "",
    ],
)
async def test_a_document_that_could_not_run_is_refused(surface, document):
    asked = surface.create_webhook_endpoint(data=WEBHOOK | {"document": document})
    assert {place[0] for place in await refusal(asked)} == {"document"}


async def test_an_answer_beyond_the_limit_is_an_error(sender, workspace, receiver):
    made = await add(workspace, receiver, "{ shares(limit: 100) { data { description } } }", "share.archived")
    for _ in range(5):
        share = await workspace.create_share(
            data={"name": "Long", "prices": FREE, "description": "a" * 65_000}
        )
    await workspace.update_share(id=share["id"], data={"is_archived": True})
    await when(sender, made, every("succeeded"))
    content = receiver.received[0].content
    assert content["data"] is None
    assert content["errors"][0]["extensions"] == {"code": "too_large"}


@pytest.mark.parametrize("beyond", [0, 1])
async def test_an_answer_may_be_as_long_as_the_limit(sender, workspace, receiver, monkeypatch, beyond):
    data = {"shares": {"data": [{"name": "Field guide"}]}}
    # The limit is moved to the answer: no document's answer has just as many bytes as the limit.
    monkeypatch.setattr(stored_documents, "LARGEST_CONTENT", len(orjson.dumps({"data": data})) - beyond)
    made = await add(workspace, receiver, FEED)
    await create_share(workspace, "Field guide")
    await when(sender, made, every("succeeded"))
    assert receiver.received[0].content["data"] == (None if beyond else data)


async def test_what_a_document_uses_counts_for_the_token_that_made_it(
    sender, sending_tenant, workspace, receiver
):
    made = await add(workspace, receiver, NAMES)
    await create_share(workspace)
    await when(sender, made, every("succeeded"))
    await sender.app.state.services.usage.write(sender.database)
    owner = workspace.with_token(sending_tenant.personal_token)
    used = (await owner.list_usage(workspace_id=[sending_tenant.id], limit=100))["data"]
    assert "Workspace.slug" in {each["name"] for each in used}
    assert len({each["client_id"] for each in used}) == 1


async def test_what_a_document_uses_counts_for_the_application_that_made_it(
    sender, sending_tenant, workspace, receiver
):
    client = await make_application(sender, UUID(sending_tenant.id), UUID(sending_tenant.user_id))
    tokens = await client.tokens(sending_tenant, scope="webhooks:write shares:read workspaces:read")
    made = await add(workspace.with_token(tokens["access_token"]), receiver, NAMES)
    await create_share(workspace)
    await when(sender, made, every("succeeded"))
    await sender.app.state.services.usage.write(sender.database)
    owner = workspace.with_token(sending_tenant.personal_token)
    used = (await owner.list_usage(workspace_id=[sending_tenant.id], limit=100))["data"]
    assert {each["client_id"] for each in used if each["name"] == "Share.name"} == {str(client.id)}
