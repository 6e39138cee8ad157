"""`node(id)`: every resource by its id alone."""

from functools import partial
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from graphql import parse

from oauth.scopes import Scope
from resolvers.graph.execution.nodes import declare_nodes
from resolvers.graph.root import NODES
from resolvers.graph.survey.cost import survey
from tests.support.callers.examples import EXAMPLES
from tests.support.callers.surfaces import Rest, selection
from tests.support.callers.world import world_of
from tests.support.servers.gateways import make_tenant, make_token
from tests.support.statements.statements import noted
from tests.surfaces.test_permissions import caller_for

pytestmark = pytest.mark.both_databases

OPERATIONS = sorted(operation.name for operation in NODES.values())
BY_NAME = {operation.name: operation for operation in NODES.values()}


@pytest_asyncio.fixture(scope="module")
async def world(gateway):
    """A tenant with one of each resource."""
    tenant = await make_tenant(gateway)
    return tenant, await world_of(gateway, tenant)


@pytest.fixture
def ask(gateway):
    async def ask(token: str | None, document: str, headers: Any = None) -> Any:
        headers = headers or ({"Authorization": f"Bearer {token}"} if token else {})
        return (await gateway.client.post("/graphql", json={"query": document}, headers=headers)).json()

    return ask


def id_of(name: str, made: Any) -> str:
    return str(EXAMPLES[name](made)["id"])


def is_absent(answer: Any) -> bool:
    (error,) = answer["errors"]
    assert error["path"] == ["node"]
    assert error["message"] == "There is no such resource."
    return answer["data"] == {"node": None} and error["extensions"]["code"] == "not_found"


def node(id: str) -> str:
    return f'{{ node(id: "{id}") {{ __typename id }} }}'


def test_a_type_that_is_declared_a_node_again_is_one_once():
    for _ in range(2):
        declare_nodes(NODES.values())
    for operation in NODES.values():
        declared = [each.name for each in operation.answer.__strawberry_definition__.interfaces]
        assert declared.count("Node") == 1


@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_node_is_the_resource_that_its_own_field_gives(gateway, ask, world, name):
    tenant, made = world
    caller = await caller_for(partial(Rest, gateway.client, gateway.app), gateway, tenant, name, "")
    type_ = gateway.app.state.schema._schema.type_map[BY_NAME[name].answer.__name__]
    fields = selection(type_)
    field = name.removeprefix("get_").title().replace("_", "")
    field = field[0].lower() + field[1:]
    call = f'(id: "{id_of(name, made)}")'
    document = f"{{ node{call} {{ ... on {type_.name}{fields} }} own: {field}{call}{fields} }}"
    answer = await ask(None, document, caller._sent_headers())
    assert "errors" not in answer
    assert answer["data"]["node"] == answer["data"]["own"]
    assert answer["data"]["own"]["id"] == id_of(name, made)


@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_node_that_the_caller_may_not_see_does_not_exist(gateway, ask, world, name):
    _, made = world
    other = await make_tenant(gateway)
    assert is_absent(await ask(other.token, node(id_of(name, made))))
    assert is_absent(await ask(other.personal_token, node(id_of(name, made))))
    assert is_absent(await ask(made.customer_token, node(id_of(name, made))))


async def test_a_node_needs_the_scope_of_its_type(gateway, ask, world):
    tenant, made = world
    token = await make_token(gateway, tenant, Scope.CUSTOMERS_READ)
    assert is_absent(await ask(token, node(made.share)))
    assert (await ask(token, node(made.team)))["data"]["node"]["__typename"] == "Customer"


async def test_an_unknown_id_is_absent(ask, world):
    assert is_absent(await ask(world[0].token, node(str(uuid4()))))


@pytest.mark.parametrize("id", ["", "x", "1", "Share:1"])
async def test_an_id_that_is_no_uuid_is_refused(ask, world, id):
    (error,) = (await ask(world[0].token, node(id)))["errors"]
    assert [entry["loc"] for entry in error["extensions"]["detail"]] == [["id"]]


async def test_a_node_needs_a_credential(ask, world):
    (error,) = (await ask(None, node(world[1].share)))["errors"]
    assert error["extensions"]["code"] == "unauthorized"


async def test_links_of_a_node_are_followed(ask, world):
    tenant, made = world
    document = (
        f'{{ node(id: "{made.share}") {{ id ... on Share {{ prices {{ id }} workspace {{ id }} }} }} }}'
    )
    found = (await ask(tenant.token, document))["data"]["node"]
    assert found == {"id": made.share, "prices": [{"id": made.price}], "workspace": {"id": tenant.id}}


def test_each_node_costs_a_call(gateway):
    schema = gateway.app.state.schema._schema
    document = parse("{ " + " ".join(f'a{n}: node(id: "{uuid4()}") {{ id }}' for n in range(7)) + " }")
    (operation,) = document.definitions
    assert survey(schema, document, operation, {}).cost == 7


async def test_an_answer_with_a_node_beside_the_schema_is_not_kept_for_others(ask, world, other_tenant):
    tenant, made = world
    document = f'{{ __schema {{ queryType {{ name }} }} node(id: "{made.share}") {{ id }} }}'
    for _ in range(2):
        assert (await ask(tenant.token, document))["data"]["node"] == {"id": made.share}
    assert (await ask(other_tenant.token, document))["data"]["node"] is None
    assert "data" not in await ask(None, document)


@pytest.mark.parametrize("token", ["token", "personal_token"])
async def test_looking_for_a_node_reads_no_table_through(gateway, ask, world, token):
    tenant, _ = world
    with noted(gateway.database) as statements:
        assert is_absent(await ask(getattr(tenant, token), node(str(uuid4()))))
    (statement,) = [each for each in statements if "UNION ALL" in each]
    if not gateway.database.is_sqlite:
        assert statement.count(".workspace_id ") >= statement.count("UNION ALL") - 4
        return
    async with gateway.database.read() as connection:
        values = (None,) * statement.count("?")
        plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)).all()
    scans = {step.detail.split()[1] for step in plan if step.detail.startswith("SCAN ")}
    # No workspace token sees passkeys: the condition is false for every row, and SQLite reads none.
    # The list of a user's workspaces is read through.
    assert scans <= {"anon_1", "json_each", *(["passkeys"] if token == "token" else [])}
