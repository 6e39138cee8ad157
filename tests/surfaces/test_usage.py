"""What clients use of both surfaces, as owners see it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update

from resolvers.graph.root import exposed
from resolvers.graph.survey import used_fields
from resolvers.graph.survey.documents import LONGEST_CACHED
from resolvers.operations import used_inputs
from storage.tables.base import table_of
from storage.tables.credentials.usage import UsageRow
from tests.support.callers.surfaces import Refused, Rest
from tests.support.callers.world import make_world
from tests.support.measures.usage_reader import NOON, Reader
from tests.support.servers.gateways import make_tenant, make_token
from tests.support.tenants.applications import make_application
from tests.support.tenants.membership import make_member

_counts = table_of(UsageRow)


async def test_a_document_counts_its_root_fields_fields_and_arguments_once(reader):
    document = """
        query Shares($limit: Int) {
          first: shares(limit: $limit) { data { ...named } }
          second: shares(limit: 2, sorting: [NAME]) { data { title: name ... on Share { id } } }
        }
        fragment named on Share { name id }
        fragment unused on Share { description }
    """.replace("fragment unused on Share { description }", "")
    for _ in range(3):
        assert "errors" not in await reader.send(document, limit=1)
    assert await reader.used() == {
        "Query.shares": 3,
        "Query.shares(limit:)": 3,
        "Query.shares(sorting:)": 3,
        "ShareConnection.data": 3,
        "Share.name": 3,
        "Share.id": 3,
    }
    kinds = {row["name"]: row["kind"] for row in await reader.rows()}
    assert (kinds["Query.shares"], kinds["Query.shares(limit:)"], kinds["Share.id"]) == (
        "operation",
        "argument",
        "field",
    )


async def test_links_and_the_operation_that_was_named_count(reader):
    document = "query A { customers { data { workspace { name } } } } query B { viewer { scopes } }"
    body = {"query": document, "operationName": "A"}
    headers = {"Authorization": f"Bearer {reader.tenant.token}"}
    for _ in range(2):
        (await reader.gateway.client.post("/graphql", json=body, headers=headers)).raise_for_status()
    used = await reader.used()
    assert (used["Customer.workspace"], used["Workspace.name"]) == (2, 2)
    assert "Query.viewer" not in used


async def test_a_mutation_counts_the_input_fields_that_were_sent(reader):
    document = "mutation M($data: ShareCreate!) { createShare(data: $data) { id } }"
    price = {"amountType": "FIXED", "priceAmount": 1500}
    await reader.send(document, data={"name": "Guide", "prices": [price]})
    literal = 'mutation { createShare(data: {name: "Guide", prices: [{amountType: FREE}]}) { id } }'
    await reader.send(literal)
    assert await reader.used(kind=["input_field"]) == {
        "ShareCreate.name": 2,
        "ShareCreate.prices": 2,
        "PriceInput.amountType": 2,
        "PriceInput.priceAmount": 1,
    }
    assert await reader.used(kind=["operation"]) == {"Mutation.createShare": 2}


async def test_rest_counts_its_operation_query_parameters_and_fields_of_the_body(reader):
    for _ in range(2):
        await reader.call("GET", "/api/shares/?limit=3&metadata[shelf]=b")
    await reader.call("GET", "/api/shares")
    share = {"name": "Guide", "prices": [{"amount_type": "free"}]}
    made = (await reader.call("POST", "/api/shares/", json=share)).json()
    await reader.call("PATCH", f"/api/shares/{made['id']}", json={"name": "Field guide", "id": made["id"]})
    assert await reader.used() == {
        "GET /api/shares/": 3,
        "GET /api/shares/?limit": 2,
        "GET /api/shares/?metadata": 2,
        "POST /api/shares/": 1,
        "POST /api/shares/#name": 1,
        "POST /api/shares/#prices": 1,
        "POST /api/shares/#prices.amount_type": 1,
        "PATCH /api/shares/{id}": 1,
        "PATCH /api/shares/{id}#name": 1,
    }
    assert {row["surface"] for row in await reader.rows()} == {"rest"}


async def test_the_first_ten_items_of_a_list_count(reader):
    events = [{"name": "read", "external_customer_id": "ada"} for _ in range(11)]
    events[9]["metadata"] = {"page": 1}
    events[10]["timestamp"] = "2026-11-01T00:00:00Z"
    (await reader.call("POST", "/api/events/ingest", json={"events": events})).raise_for_status()
    assert set(await reader.used(kind=["input_field"])) == {
        "POST /api/events/ingest#events",
        "POST /api/events/ingest#events.name",
        "POST /api/events/ingest#events.external_customer_id",
        "POST /api/events/ingest#events.metadata",
    }


async def test_paths_of_one_operation_count_apart(reader):
    query = "start_date=2026-11-01&end_date=2026-11-02&interval=day&timezone=UTC"
    for path in ("/api/metrics/", "/api/metrics/export", "/api/metrics/export"):
        (await reader.call("GET", f"{path}?{query}")).raise_for_status()
    counts = {"GET /api/metrics/": 1, "GET /api/metrics/export": 2}
    assert await reader.used(kind=["operation"]) == counts


async def test_documents_too_long_to_keep_count_too(reader):
    document = "{ shares { data { name } } } " + "#" * LONGEST_CACHED
    for _ in range(2):
        assert "errors" not in await reader.send(document)
    assert await reader.used() == {"Query.shares": 2, "ShareConnection.data": 2, "Share.name": 2}


async def test_what_cannot_be_counted_does_not_fail_a_request(reader, monkeypatch):
    def fail(*_: Any) -> None:
        raise RuntimeError("No such field.")

    with monkeypatch.context() as broken:
        broken.setattr(used_inputs, "_collect", fail)
        broken.setattr(used_fields._Visitor, "visit", fail)
        share = {"name": "Guide", "prices": [{"amount_type": "free"}]}
        assert (await reader.call("POST", "/api/shares/", json=share)).status_code == 201
        prices = [{"amountType": "FREE"}]
        document = "mutation Uncounted($data: ShareCreate!) { createShare(data: $data) { id } }"
        assert "errors" not in await reader.send(document, data={"name": "Guide", "prices": prices})
        for _ in range(3):
            assert "errors" not in await reader.send("query Uncounted { shares { data { name } } }")
    assert await reader.used() == {}


async def test_what_is_refused_before_it_runs_is_not_counted(reader):
    await reader.send("{ shares { data { nam } } }")
    await reader.send("{ shares { ")
    await reader.call("GET", "/api/shares/?limit=1000")
    await reader.call("GET", "/api/shares/", token="dg_wat_" + "a" * 36)
    assert await reader.used() == {}


async def test_each_client_is_counted_apart_and_named(reader, gateway, caller, tenant):
    application = await make_application(gateway, UUID(tenant.id), UUID(tenant.user_id), name="Bookkeeper")
    oauth = (await application.tokens(tenant, scope="shares:read"))["access_token"]
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    user = Rest(gateway.client, gateway.app, tenant.personal_token)
    world = await make_world(workspace, user, tenant)
    data = {"comment": "Nightly", "scopes": ["shares:read"]}
    made = await workspace.create_workspace_access_token(data=data)
    for token in (oauth, made["token"], tenant.personal_token):
        await reader.call("GET", "/api/shares/?limit=7", token=token)
    await caller(world.customer_token).get_portal_customer()
    rows = await reader.rows(name=["GET /api/shares/?limit"])
    clients = {(row["client_kind"], row["client_id"], row["client_name"], row["requests"]) for row in rows}
    token_id = made["workspace_access_token"]["id"]
    assert clients == {
        ("oauth_client", str(application.id), "Bookkeeper", 1),
        ("workspace_token", token_id, "Nightly", 1),
    }
    assert await reader.used(client_id=[token_id], kind=["operation"]) == {"GET /api/shares/": 1}
    rows = await reader.rows(kind=["operation"])
    rows = [row for row in rows if row["client_kind"] == "customer_sessions"]
    assert [(row["client_id"], row["client_name"]) for row in rows] == [(None, None)]


async def test_two_workspaces_are_never_mixed(reader, gateway, caller, tenant):
    other = await make_tenant(gateway)
    application = await make_application(gateway, UUID(tenant.id), UUID(tenant.user_id))
    for each in (tenant, other):
        token = (await application.tokens(each, scope="shares:read"))["access_token"]
        await reader.call("GET", "/api/shares/", token=token)
    for each in (tenant, other):
        own = Reader(gateway, caller(each.personal_token), each)
        assert await own.used() == {"GET /api/shares/": 1}
    with pytest.raises(Refused) as refused:
        await caller(other.personal_token).list_usage(workspace_id=[tenant.id])
    assert refused.value.code == "not_found"
    everything = await caller(other.personal_token).list_usage()
    assert {row["workspace_id"] for row in everything["data"]} == {other.id}


async def test_only_owners_see_the_usage(reader, gateway, caller, tenant):
    await reader.call("GET", "/api/shares/")
    assert await reader.used() == {"GET /api/shares/": 1}
    member = await make_member(gateway, tenant)
    reader.surface = caller(member.token)
    assert await reader.used() == {}
    reader.surface = caller(await make_token(gateway, tenant))
    with pytest.raises(Refused) as refused:
        await reader.used()
    assert refused.value.code == "insufficient_scope"


async def test_days_are_added_up_within_the_range(reader, gateway, tenant):
    today = NOON.date()
    for days in (0, 1, 40):
        await reader.call("GET", "/api/shares/")
        await reader.rows()
        moved = update(_counts).where(_counts.c.workspace_id == UUID(tenant.id), _counts.c.day == today)
        async with gateway.database.write() as connection:
            await connection.execute(moved.values(day=today - timedelta(days=days or 2)))
    assert await reader.used() == {"GET /api/shares/": 3}
    month = {"start_date": (today - timedelta(days=30)).isoformat()}
    assert await reader.used(**month) == {"GET /api/shares/": 2}
    day = (today - timedelta(days=40)).isoformat()
    assert await reader.used(start_date=day, end_date=day) == {"GET /api/shares/": 1}
    with pytest.raises(Refused) as refused:
        await reader.used(start_date=today.isoformat(), end_date=day)
    assert refused.value.problems == {("end_date",): "date_order"}


async def test_the_most_used_comes_first_and_pages_go_on(reader):
    for times, name in enumerate(("customers", "events", "shares"), 1):
        for _ in range(times):
            await reader.call("GET", f"/api/{name}/")
    await reader.rows()
    names, after = [], None
    for _ in range(3):
        page = await reader.surface.list_usage(
            workspace_id=[reader.tenant.id], limit=1, **({"after": after} if after else {})
        )
        names += [row["name"] for row in page["data"]]
        after = page["meta"]["next_cursor"]
    assert names == ["GET /api/shares/", "GET /api/events/", "GET /api/customers/"]
    assert after is None


async def test_what_is_deprecated_is_marked(reader, gateway, monkeypatch):
    schema = gateway.app.state.schema
    field = exposed(schema._schema)["list_events"].field
    monkeypatch.setattr(field, "deprecation_reason", "Use `shares`.")
    monkeypatch.setattr(schema.documents.parsed, "entries", type(schema.documents.parsed.entries)())
    await reader.send("{ events { data { name } } shares { data { name } } }")
    assert await reader.used(is_deprecated=True) == {"Query.events": 1}
    assert "Query.events" not in await reader.used(is_deprecated=False)
