"""What a request costs: a call for each 100 objects that it may read, the same on both surfaces."""

from collections.abc import Mapping
from typing import Any

import pytest
from graphql import (
    GraphQLField,
    GraphQLObjectType,
    OperationDefinitionNode,
    get_named_type,
    get_nullable_type,
    get_operation_ast,
    is_list_type,
    parse,
)

from resolvers.graph.execution.fields import OPERATION
from resolvers.graph.root import make_schema
from resolvers.graph.survey.cost import survey
from resolvers.operations.limits.answer_size import calls_for_bytes
from schema.kit.links import MOST, SCOPE
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.servers.gateways import bearer, make_tenant, run_gateway

SCHEMA = make_schema()._schema
EVENTS = "events(limit: 100) { data { id } }"
PERIODS = "a: periods { costs } b: periods { costs }"
DATES = 'startDate: "2025-01-01", timezone: "UTC", interval: HOUR'


def cost_of(text: str, **variables: Any) -> int:
    document = parse(text)
    operation = get_operation_ast(document)
    assert isinstance(operation, OperationDefinitionNode)
    return survey(SCHEMA, document, operation, variables).cost


@pytest.mark.parametrize(
    ("document", "cost"),
    [
        # A field of the root costs one, whatever its page has.
        ("{ share { id } }", 1),
        ("{ shares { data { id } } }", 1),
        ("{ shares(limit: 100) { data { id } meta { total } } }", 1),
        ("{ a: shares { data { id } } b: shares(limit: 100) { data { id } } customers { data { id } } }", 3),
        ("mutation { a: deleteShare b: deleteShare }", 2),
        # A link to one thing costs one for each 100 objects that have it.
        ("{ share { workspace { name } } }", 2),
        ("{ shares(limit: 100) { data { name workspace { name } } } }", 2),
        ("{ fileShareSessions(limit: 100) { data { share { name } customer { name } } } }", 3),
        ("{ shares(limit: 100) { data { a: workspace { id } b: workspace { id } } } }", 3),
        # A link to a list costs one for each 100 objects that it may give to all together.
        ("{ customers(limit: 10) { data { events { data { id } } } } }", 2),
        ("{ customers(limit: 11) { data { events { data { id } } } } }", 3),
        (f"{{ customers(limit: 100) {{ data {{ {EVENTS} }} }} }}", 101),
        ("{ shares(first: 100) { data { workspace { id } } } }", 2),
        ("{ customers(first: 11) { data { events { data { id } } } } }", 3),
        ("{ customers(limit: 1) { data { events(limit: 1) { data { id } } } } }", 2),
        # A list that is in the answer once more costs once more: an alias alone does not.
        ("{ shares(limit: 100) { a: data { id } } }", 1),
        ("{ shares(limit: 100) { a: data { id } data { name } } }", 2),
        ("{ shares { data { id } ...P } } fragment P on ShareConnection { data { name } b: data { id } }", 2),
        ("{ customers(limit: 100) { data { a: members { id } b: members { id } c: members { id } } } }", 3),
        (f"{{ metrics({DATES}, endDate: \"2025-03-25\") {{ a: timestamps b: timestamps }} }}", 2),
        (f"{{ metrics({DATES}, endDate: \"2025-03-25\") {{ {PERIODS} }} }}", 4),
        # Lists within lists multiply, and so do links behind them.
        (
            "{ customers(limit: 10) { data { events(limit: 10) { data { children(limit: 10) "
            "{ data { parent { id } } } } } } } }",
            1 + 1 + 10 + 10,
        ),
        ("{ customers(limit: 20) { data { fileShareSessions { data { share { id } } } } } }", 1 + 2 + 2),
        # So do links behind a list inside an object, which may have as many items as it can have at most.
        ("{ fileSharePayments(limit: 10) { data { refunds { id } } } }", 1),
        ("{ fileSharePayments(limit: 10) { data { refunds { share { id } } } } }", 1 + 10),
        (
            "{ fileSharePayments(limit: 10) { data { refunds { fileShareSession "
            "{ payments(limit: 10) { data { id } } } } } } }",
            1 + 10 + 100,
        ),
        # Fragments cost where they are spread.
        (
            "{ a: customers(limit: 10) { ...Page } b: customers(limit: 100) { ...Page } } "
            "fragment Page on CustomerConnection { data { events { data { id } } } }",
            1 + 1 + 1 + 10,
        ),
        (
            "{ a: shares(limit: 3) { ...L } b: shares(limit: 4) { ...L } }"
            " fragment L on ShareConnection { data { workspace { name } } }",
            4,
        ),
        ("{ customers(limit: 30) { ... { data { ... on Customer { events { data { id } } } } } } }", 1 + 3),
        (f"{{ metrics({DATES}, endDate: \"2025-01-01\") {{ currency }} }}", 1),
        (f"{{ metrics({DATES}, endDate: \"2025-03-25\") {{ currency }} }}", 2),
        ("{ __schema { queryType { name } } }", 10),
        ('{ a: __typename __type(name: "Share") { name } shares { data { id } } }', 11),
    ],
)  # fmt: skip
def test_cost_follows_the_objects_that_a_document_may_read(document, cost):
    assert cost_of(document) == cost


def test_a_list_inside_an_object_says_how_many_items_with_links_it_may_have():
    unbounded = {
        f"{owner.name}.{name}"
        for owner in SCHEMA.type_map.values()
        if isinstance(owner, GraphQLObjectType) and not owner.name.startswith("__")
        for name, each in owner.fields.items()
        # The objects of a page are those of its `limit`.
        if is_list_type(get_nullable_type(each.type)) and "pageInfo" not in owner.fields
        if "limit" not in each.args and MOST not in declared(each) and has_links(get_named_type(each.type))
    }
    assert not unbounded


def declared(field: GraphQLField) -> Mapping[str, Any]:
    definition = field.extensions.get("strawberry-definition")
    return definition.metadata if definition else {}


def has_links(type_: Any, above: frozenset[str] = frozenset()) -> bool:
    """Whether an object of the type leads to others, itself or in an object inside it."""
    if not isinstance(type_, GraphQLObjectType) or type_.name in above:
        return False
    return any(
        {OPERATION, SCOPE} & declared(each).keys()
        or has_links(get_named_type(each.type), above | {type_.name})
        for each in type_.fields.values()
    )


@pytest.mark.parametrize(("limit", "cost"), [(1, 2), (100, 11), (None, 2), (-5, 2), (10**9, 11), ("x", 11)])
def test_a_limit_by_a_variable_counts_as_it_was_sent(limit, cost):
    text = "query($limit: Int) { customers(limit: $limit) { data { events { data { id } } } } }"
    assert cost_of(text, **({} if limit is None else {"limit": limit})) == cost


@pytest.fixture(scope="module")
async def limited(database_url, tmp_path_factory):
    async for gateway in run_gateway(database_url, tmp_path_factory.mktemp("objects"), rate_limit=500):
        yield gateway


async def ask(gateway: Any, token: str, sent: dict[str, Any]) -> Any:
    return await gateway.client.post("/graphql", json=sent, headers=bearer(token))


async def test_a_page_of_100_shares_with_their_workspace_costs_two(limited):
    tenant = await make_tenant(limited)
    query = "{ shares(limit: 100) { data { name workspace { name } } } }"
    for used in (2, 4, 6):
        answer = await ask(limited, tenant.token, {"query": query})
        assert (answer.headers["ratelimit-cost"], answer.headers["ratelimit-remaining"]) == (
            "2",
            str(500 - used),
        )


async def test_an_answer_says_its_cost_if_the_request_asks_for_it(limited):
    tenant = await make_tenant(limited)
    query, asks = "{ shares(limit: 100) { data { workspace { name } } } }", {"cost": True}
    answer = await ask(limited, tenant.token, {"query": query, "extensions": asks})
    assert answer.json()["extensions"] == {"cost": {"requested": 2, "limit": 500, "remaining": 498}}
    # A plan and a kept request answer alike, and only those that ask are told.
    for used in (3, 4, 5):
        sent = {"query": "{ shares { meta { total } } }", "extensions": asks}
        answer = await ask(limited, tenant.token, sent)
        assert answer.json()["extensions"] == {
            "cost": {"requested": 1, "limit": 500, "remaining": 500 - used}
        }
    for extensions in ({}, None, {"cost": False}):
        answer = await ask(limited, tenant.token, {"query": query, "extensions": extensions})
        assert "extensions" not in answer.json()
    refused = await ask(limited, tenant.token, {"query": "{ nothing }", "extensions": asks})
    assert refused.json()["errors"]
    assert refused.json()["extensions"]["cost"]["requested"] == 1


async def test_the_cost_can_be_asked_for_by_get_and_without_a_limit(gateway, tenant):
    params = {"query": "{ shares { meta { total } } }", "extensions": '{"cost": true}'}
    answer = await gateway.client.get("/graphql", params=params, headers=bearer(tenant.token))
    assert answer.json()["extensions"] == {"cost": {"requested": 1, "limit": None, "remaining": None}}


async def test_the_cost_is_asked_for_by_true_or_false(gateway):
    sent = {"query": "{ __typename }", "extensions": {"cost": "yes"}}
    answer = await gateway.client.post("/graphql", json=sent)
    assert answer.status_code == 400
    (problem,) = answer.json()["errors"][0]["extensions"]["detail"]
    assert problem["loc"] == ["extensions", "cost"]


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("list_shares", {"limit": 100}),
        ("list_events", {}),
        ("get_viewer", {}),
        (
            "get_metrics",
            {"interval": "hour", "start_date": "2025-01-01", "end_date": "2025-06-30", "timezone": "UTC"},
        ),
    ],
)
async def test_both_surfaces_charge_the_same_for_the_same(limited, operation, arguments):
    tenant = await make_tenant(limited)
    costs = []
    for make in (Rest, GraphQL):
        plain = make(limited.client, limited.app, tenant.token, {"Accept-Encoding": "identity"})
        answer = await plain.ask(operation, arguments)
        # The same answer has more bytes in GraphQL, whose names say more.
        bytes_cost = calls_for_bytes(int(answer.headers["content-length"]))
        costs.append(int(answer.headers["ratelimit-cost"]) - bytes_cost)
    assert costs[0] == costs[1]
