"""Every field of the schema has a plan, and what is selected of the schema itself comes with other fields."""

import pytest
from graphql import GraphQLObjectType, get_named_type, is_abstract_type, parse

from resolvers.graph.execution.planned.plans import MOST_LINKS, plan_of
from tests.support.servers.gateways import bearer, make_tenant

DEEPEST = 4


def selection(schema, type_, depth: int, path: tuple[str, ...] = ()) -> str:
    """All fields of a type; those that lead on, once on each way."""
    parts = ["__typename"]
    for name, field in type_.fields.items():
        named = get_named_type(field.type)
        if is_abstract_type(named):
            parts.append(f"{name} {{ id ... on Share {{ name etag }} }}")
        elif not isinstance(named, GraphQLObjectType):
            parts.append(name)
        elif depth and named.name not in path:
            parts.append(f"{name} {selection(schema, named, depth - 1, (*path, named.name))}")
    return f"{{ {' '.join(parts)} }}"


@pytest.mark.parametrize("kind", ["query", "mutation", "subscription"])
def test_every_field_has_a_plan(gateway, kind, monkeypatch):
    monkeypatch.setattr("resolvers.graph.execution.planned.plans.MOST_LINKS", 10_000)
    schema, links = gateway.app.state.schema, 0
    root = getattr(schema._schema, f"{kind}_type")
    for name, field in root.fields.items():
        named = get_named_type(field.type)
        below = selection(schema._schema, named, DEEPEST) if isinstance(named, GraphQLObjectType) else ""
        below = "{ id ... on Customer { members { etag } } }" if is_abstract_type(named) else below
        document = parse(f"{kind} {{ {name} {below} }}")
        # Arguments that are missing are refused when they are read, not by the plan.
        links += len(plan_of(schema, document, document.definitions[0]).prepare({}).variant.links)
    assert links > 0 or kind == "subscription"


async def ask(gateway, token, query, **variables):
    sent = {"query": query, "variables": variables}
    return (await gateway.client.post("/graphql", json=sent, headers=bearer(token))).json()


async def test_the_schema_comes_with_other_fields(gateway):
    tenant = await make_tenant(gateway)
    document = """
    query ($name: String!, $all: Boolean = false, $shown: Boolean!, $limit: Int) {
      shares(limit: $limit) { data { id } }
      own: __type(name: $name) { name fields(includeDeprecated: $all) { ...Named } }
      __schema { queryType { name @include(if: $shown) kind @skip(if: $shown) } }
      none: __type(name: "Nothing") { name }
      refused: shares(limit: 0) { data { id } }
      __typename
    }
    fragment Named on __Field { name }
    """
    for all in (False, True, False):
        answer = await ask(gateway, tenant.token, document, name="Deletion", all=all, shown=True, limit=1)
        data = answer["data"]
        assert list(data) == ["shares", "own", "__schema", "none", "refused", "__typename"]
        assert data["__schema"] == {"queryType": {"name": "Query"}}
        assert ({"name": "id"} in data["own"]["fields"]) == all
        assert {"name": "resourceId"} in data["own"]["fields"]
        assert data["none"] is None
        assert [error["path"] for error in answer["errors"]] == [["refused"]]


@pytest.mark.parametrize("order", [1, -1])
async def test_the_schema_leaves_room_for_what_is_counted(gateway, order):
    """Models are counted as they are written: the viewer, metrics."""
    tenant = await make_tenant(gateway)
    fields = ['__type(name: "Share") { name }', "viewer { kind }", "metricsLimits { maxPeriods }"][::order]
    answer = await ask(gateway, tenant.token, f"{{ {' '.join(fields)} }}")
    assert "errors" not in answer
    assert answer["data"]["__type"] == {"name": "Share"}
    assert answer["data"]["viewer"] == {"kind": "WORKSPACE_TOKEN"}


async def test_wrong_variables_are_refused_the_same_at_each_request(gateway):
    tenant = await make_tenant(gateway)
    shares = "shares(limit: $limit) { data { id @include(if: $shown) } }"
    document = f"query ($limit: Int!, $shown: Boolean = true) {{ {shares} }}"
    right = await ask(gateway, tenant.token, document, limit=1)
    assert right == {"data": {"shares": {"data": []}}}
    for variables in ({"limit": "one"}, {}, {"limit": 1, "shown": None}):
        answers = [await ask(gateway, tenant.token, document, **variables) for _ in range(3)]
        assert answers[0] == answers[1] == answers[2]
        assert "data" not in answers[0]
        assert [error["extensions"]["code"] for error in answers[0]["errors"]] == ["invalid"]


async def test_a_document_has_a_bounded_number_of_links(gateway):
    tenant = await make_tenant(gateway)
    sessions = "fileShareSessions { data { share { id } customer { id } } }"
    roots = [f"root{place}: {sessions}" for place in range(MOST_LINKS // 2 + 1)]
    for _ in range(2):
        answer = await ask(gateway, tenant.token, f"{{ {' '.join(roots)} }}")
        (error,) = answer["errors"]
        assert error["message"] == "This document has 62 links; the limit is 60."
        assert error["extensions"]["code"] == "too_complex"
    assert "errors" not in await ask(gateway, tenant.token, f"{{ {' '.join(roots[1:])} }}")


async def test_what_a_change_answers_with_is_whole(gateway):
    tenant = await make_tenant(gateway)
    created = await ask(
        gateway,
        tenant.token,
        'mutation { createCustomer(data: {email: "ada@example.com"}) { id etag members { etag id } } }',
    )
    customer = created["data"]["createCustomer"]
    read = await ask(
        gateway,
        tenant.token,
        "query ($id: ID!) { customer(id: $id) { id etag members { etag id } } }",
        id=customer["id"],
    )
    assert read["data"]["customer"] == customer

    document = """
    mutation ($id: ID!) { createCustomerSession(data: {customerId: $id}) {
      token
      customer { name etag members { etag id } workspace { id } events { data { name } meta { total } } }
      customerId
    } }
    """
    for _ in range(2):
        session = (await ask(gateway, tenant.token, document, id=customer["id"]))["data"][
            "createCustomerSession"
        ]
        assert list(session) == ["token", "customer", "customerId"]
        of_session = session["customer"]
        assert (of_session["etag"], of_session["members"]) == (customer["etag"], customer["members"])
        assert of_session["workspace"] == {"id": tenant.id}
        assert of_session["events"] == {"data": [{"name": "customer.created"}], "meta": {"total": 1}}

    data = '{name: "Poster", prices: [{amountType: FREE}]}'
    share = f"mutation {{ createShare(data: {data}) {{ etag prices {{ id etag }} }} }}"
    answer = await ask(gateway, tenant.token, share)
    assert "errors" not in answer, answer
    created = answer["data"]["createShare"]
    shares = (await ask(gateway, tenant.token, "{ shares { data { etag prices { id etag } } } }"))["data"][
        "shares"
    ]
    assert shares["data"] == [created]
