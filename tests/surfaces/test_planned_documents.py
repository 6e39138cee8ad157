"""Documents answered by a plan: the answers are those of graphql-core's executor, whatever is selected."""

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import pytest
from graphql import get_named_type
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oauth.scopes import WORKSPACE_SCOPES, Scope
from resolvers.graph.execution.planned.plans import DocumentPlan
from tests.support.callers.documents import (
    CURSOR,
    HEAD,
    NODES,
    ROOTS,
    USE,
    VARIABLES,
    selections,
    with_other_literals,
)
from tests.support.callers.surfaces import Rest
from tests.support.callers.world import world_of
from tests.support.executor.resolvers import without_plans
from tests.support.measures.cases import cases
from tests.support.servers.gateways import bearer, make_tenant, make_token
from tests.support.statements.statements import noted

pytestmark = pytest.mark.both_databases

# The executor reads each link by itself, so it has no bounds.
REFUSED = re.compile(r"ask for fewer levels|links; the limit is")
DIRECTIVE = re.compile(r" @(include|skip)\(if: [^)]*\)")
# Scopes of the credentials that ask; the first has all.
CUSTOMER = "a customer's token"
SCOPES: tuple[Any, ...] = (
    (),
    (),
    CUSTOMER,
    (Scope.CUSTOMERS_READ, Scope.FILE_SHARE_SESSIONS_READ, Scope.SHARES_READ),
    (Scope.FILE_SHARE_SESSIONS_READ, Scope.EVENTS_READ),
    (Scope.SHARES_READ, Scope.WORKSPACES_READ, Scope.CUSTOMERS_READ),
)
# By the application itself: an `id` is given again once its object is gone.
_WORLDS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_TENANTS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_CURSORS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_TOKENS: dict[Any, str] = {}
_planned = {"documents": 0, "answers": 0}


@pytest.fixture(scope="module", autouse=True)
def many_of_the_documents_have_a_plan() -> Iterator[None]:
    answer = DocumentPlan.answer

    async def counting(*arguments: Any) -> Any:
        data = await answer(*arguments)
        _planned["answers"] += 1
        return data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DocumentPlan, "answer", counting)
        yield
    # Without documents, the process ran other tests of this module.
    assert _planned["answers"] > 1.5 * _planned["documents"]


async def home(gateway: Any) -> Any:
    """A workspace with one of each resource, made once for each database."""
    if gateway.app not in _WORLDS:
        tenant = await make_tenant(gateway)
        workspace = Rest(gateway.client, gateway.app, tenant.token)
        world = await world_of(gateway, tenant)
        await workspace.create_customer(
            data={
                "email": "zoë@example.com",
                "external_id": "z",
                "metadata": {"ratio": 1e22, "on": True, "a": "\n"},
            }
        )
        deleted = await workspace.create_customer(data={"email": "gone@example.com"})
        about = {"customer_id": deleted["id"], "share_id": world.share, "file_size_bytes": 1}
        for amount in (None, 700):
            session = await workspace.create_file_share_session(data=about | {"price_amount": amount or 0})
            if amount:
                await workspace.record_payment(id=session["id"], data={"amount": amount, "currency": "usd"})
        await workspace.delete_customer(id=deleted["id"])
        _CURSORS[gateway.app] = await cursor_of(gateway, tenant.token, world)
        _WORLDS[gateway.app] = tenant.token, world
        _TENANTS[gateway.app] = tenant
    return _WORLDS[gateway.app]


async def cursor_of(gateway: Any, token: str, world: Any) -> str:
    """A cursor of the events of the world's customer, who then has more than one."""
    answer = await gateway.client.post(
        "/api/events/ingest",
        json={"events": [{"name": name, "customer_id": world.team} for name in ("first", "second")]},
        headers=bearer(token),
    )
    assert answer.status_code == 201, answer.text
    document = f'{{ customer(id: "{world.team}") {{ events(first: 1) {{ pageInfo {{ endCursor }} }} }} }}'
    answer = await gateway.client.post("/graphql", json={"query": document}, headers=bearer(token))
    return str(answer.json()["data"]["customer"]["events"]["pageInfo"]["endCursor"])


async def credential(gateway: Any, scopes: Any) -> str:
    """A token of that workspace with these scopes, made once; all scopes if there are none."""
    token, world = await home(gateway)
    if scopes == CUSTOMER:
        return str(world.customer_token)
    if not scopes:
        return str(token)
    if (gateway.app, scopes) not in _TOKENS:
        _TOKENS[gateway.app, scopes] = await make_token(gateway, _TENANTS[gateway.app], *scopes)
    return _TOKENS[gateway.app, scopes]


@st.composite
def documents(draw: st.DrawFn, schema: Any, world: Any) -> str:
    """A document with one to three root fields."""
    roots, fragments = [], ""
    for place in range(draw(st.integers(1, 3))):
        name = draw(
            st.sampled_from([*sorted(ROOTS), *["node", "customers", "fileShareSessions", "events"] * 2])
        )
        arguments = draw(st.sampled_from(ROOTS[name])).format(**vars(world))
        type_: Any = get_named_type(schema.query_type.fields[name].type)
        below, spread = draw(selections(type_, draw(st.integers(0, 4))))
        if name == "node":
            narrower = draw(st.lists(st.sampled_from(NODES), min_size=1, max_size=2, unique=True))
            parts = [draw(selections(schema.type_map[each], 3)) for each in narrower]
            inline = [f"... on {each} {part}" for each, (part, _) in zip(narrower, parts, strict=True)]
            # Fragments of several parts would have the same names.
            below = f"{{ id {' '.join(inline[:1] if parts[0][1] else inline)} }}"
            spread = parts[0][1]
            below = below if spread or not any(each for _, each in parts) else "{ __typename }"
        elif "data" in type_.fields and draw(st.booleans()):
            item: Any = get_named_type(type_.fields["data"].type)
            items, spread = draw(selections(item, draw(st.integers(0, 2))))
            below = f"{{ data {items} meta {{ total nextCursor }} }}"
        # Each root field has fragments of its own.
        below, spread = (re.sub(r"\bPart(\d+)\b", rf"Part{place}x\1", text) for text in (below, spread))
        roots.append(f"root{place}: {name}{arguments} {below}")
        fragments += spread
    head, body = HEAD, " ".join(roots)
    if draw(st.integers(0, 3)):
        head, body, fragments = "", DIRECTIVE.sub("", body), DIRECTIVE.sub("", fragments)
        return f"query {{ {body} }}{fragments}"
    return f"{head} {{ {USE} {body} }}{fragments}"


@pytest.mark.long
@settings(max_examples=cases(150, 2), suppress_health_check=list(HealthCheck))
@given(data=st.data())
async def test_a_plan_answers_as_the_stock_executor(gateway, data):
    schema, (_, world) = gateway.app.state.schema, await home(gateway)
    token = await credential(gateway, data.draw(st.sampled_from(SCOPES)))
    text = data.draw(documents(schema._schema, world)).replace(CURSOR, _CURSORS[gateway.app])
    sent = {"query": text, "variables": VARIABLES if text.startswith(HEAD) else {}}

    async def answer() -> Any:
        found = (await gateway.client.post("/graphql", json=sent, headers=bearer(token))).json()
        # The executor runs the root fields at once, so that their errors come in any order.
        return json.dumps(found.get("data")), sorted(map(json.dumps, found.get("errors", [])))

    # The text is new, because of the comment.
    sent["query"] += f" # {uuid4()}"
    with pytest.MonkeyPatch.context() as patch:
        without_plans(patch, schema)
        by_executor = await answer()
    # The plan answers the document, which is kept, then the request, and then what was kept of that.
    by_plan = await answer()
    assert await answer() == by_plan
    _planned["documents"] += 1
    if any(REFUSED.search(error) for error in by_plan[1]):
        return
    assert by_plan == by_executor

    # Another document with other literals is kept in its place, and its template answers it.
    if sent["query"] != (other := with_other_literals(sent["query"])):
        schema.documents.parsed.clear()
        sent["query"], text = other, sent["query"]
        await answer()
        sent["query"] = text
        assert await answer() == by_executor


async def test_no_plan_is_kept_that_is_much_larger_than_its_document(gateway):
    token, _ = await home(gateway)
    roots = " ".join(f"root{place}: shares(limit: 1) {{ data {{ ...Parts }} }}" for place in range(20))
    prices = "prices { id createdAt modifiedAt amountType isArchived shareId priceAmount priceCurrency }"
    parts = f"id name createdAt modifiedAt description visibility isArchived workspaceId metadata {prices}"
    sent = {"query": f"{{ {roots} }} fragment Parts on Share {{ {parts} }}"}
    schema, headers = gateway.app.state.schema, bearer(token)
    answers = [await gateway.client.post("/graphql", json=sent, headers=headers) for _ in range(3)]
    assert answers[0].json() == answers[1].json() == answers[2].json()
    assert len(answers[0].json()["data"]) == 20
    # It answers, but is not kept.
    kept = schema.documents.parsed.get(sent["query"])
    assert [each.variants for each in kept.plans.values()] == [{}]


async def test_a_kept_request_gives_each_caller_and_each_variable_its_own_answer(gateway):
    tenant, stranger = await make_tenant(gateway), await make_tenant(gateway)
    rest = Rest(gateway.client, gateway.app, tenant.token)
    ids = [(await rest.create_customer(data={"email": f"{uuid4()}@example.com"}))["id"] for _ in range(2)]
    fields = "customer(id: $id) { id name } customers(limit: $shown) { data { id } }"
    text = f"query ($id: ID!, $shown: Int) {{ {fields} }}"

    async def ask(id: str, shown: int, token: str = tenant.token) -> Any:
        sent = {"query": text, "variables": {"id": id, "shown": shown}}
        return (await gateway.client.post("/graphql", json=sent, headers=bearer(token))).json()

    for _ in range(3):
        for id, shown in zip(ids, (1, 2), strict=True):
            data = (await ask(id, shown))["data"]
            assert data["customer"] == {"id": id, "name": None}
            assert len(data["customers"]["data"]) == shown
        refused = await ask(ids[0], 1, stranger.token)
        assert refused["data"]["customer"] is None
        assert refused["data"]["customers"]["data"] == []

    await rest.update_customer(id=ids[0], data={"name": "Ada"})
    assert (await ask(ids[0], 1))["data"]["customer"] == {"id": ids[0], "name": "Ada"}


async def test_a_kept_request_is_admitted_for_each_caller_though_its_document_was_evicted(gateway):
    tenant = await make_tenant(gateway)
    without_scope = await make_token(gateway, tenant, Scope.CUSTOMERS_READ)
    sent = {"query": f"{{ shares {{ data {{ id }} }} }} # {uuid4()}"}

    async def ask(token: str) -> Any:
        return (await gateway.client.post("/graphql", json=sent, headers=bearer(token))).json()

    for _ in range(3):
        assert await ask(tenant.token) == {"data": {"shares": {"data": []}}}
    gateway.app.state.schema.get_extensions()[0]._documents.parsed.clear()
    refused = await ask(without_scope)
    assert refused["data"] == {"shares": None}
    assert [error["extensions"]["code"] for error in refused["errors"]] == ["insufficient_scope"]


@pytest.mark.parametrize("field", ["members { name }", "etag"])
async def test_members_that_are_left_out_of_events_are_read_if_they_are_selected(gateway, field):
    token, world = await home(gateway)
    asked = f'events(limit: 1, customerId: ["{world.team}"])'
    sent = {"query": f"{{ {asked} {{ data {{ customer {{ {field} }} }} }} }}"}
    answers = [await gateway.client.post("/graphql", json=sent, headers=bearer(token)) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    (event,) = answers[1].json()["data"]["events"]["data"]
    assert all(event["customer"].values())


LINKED = (
    "{ shares(limit: 3) { data { id workspace { id } } } }",
    '{ event(id: "%s") { customer { name members { name } events(limit: 2) { data { id } } } } }',
    '{ event(id: "%s") { customer { fileShareSessions { data { customer { workspaceId } } } } } }',
    '{ node(id: "%s") { id ... on Event { children { data { id } } customer { workspace { id } } } } }',
    "{ customers { edges { cursor node { ...Linked } } pageInfo { endCursor } } }"
    " fragment Linked on Customer { fileShareSessions { data { share { prices { id } } } meta { total } } }",
)


@pytest.mark.parametrize("text", LINKED)
async def test_links_are_read_by_the_statement_of_their_root_field(gateway, text):
    _, world = await home(gateway)
    # A new token: the use of one that is older than a minute may be noted in any request.
    token = await make_token(gateway, _TENANTS[gateway.app], *WORKSPACE_SCOPES)
    sent = {"query": text.replace("%s", world.event)}
    for _ in range(2):  # The use of a token is noted, and read with the next one.
        await gateway.client.post("/graphql", json=sent, headers=bearer(token))
    with noted(gateway.database) as statements:
        found = (await gateway.client.post("/graphql", json=sent, headers=bearer(token))).json()
    assert "errors" not in found
    # The token's, and that of the field, which PostgreSQL reads as one.
    assert len(statements) == (2 if gateway.database.is_sqlite else 1)


async def test_a_link_without_its_scope_is_null_and_not_read(gateway):
    await home(gateway)
    reader = await credential(gateway, (Scope.FILE_SHARE_SESSIONS_READ, Scope.SHARES_READ))
    sent = {"query": "{ fileShareSessions(limit: 2) { data { id mine: customer { id } share { name } } } }"}
    answers = []
    for _ in range(3):
        with noted(gateway.database) as statements:
            answers.append((await gateway.client.post("/graphql", json=sent, headers=bearer(reader))).json())
    assert answers[0] == answers[1] == answers[2]
    for session in answers[2]["data"]["fileShareSessions"]["data"]:
        assert session["mine"] is None
        assert session["share"] == {"name": "Quarterly report"}
    paths = [["fileShareSessions", "data", place, "mine"] for place in range(2)]
    assert [error["path"] for error in answers[2]["errors"]] == paths
    assert {error["extensions"]["code"] for error in answers[2]["errors"]} == {"insufficient_scope"}
    assert not any("customers" in statement for statement in statements)
