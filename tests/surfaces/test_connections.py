"""Pages as Relay's connections: the same items, in the same order, with a cursor for each."""

from functools import partial

import pytest
import pytest_asyncio
from graphql import get_named_type
from strawberry.utils.str_converters import to_camel_case

from resolvers.graph.root import exposed, make_schema
from tests.support.callers.examples import EXAMPLES
from tests.support.callers.surfaces import GraphQL, Rest, selection, to_graphql
from tests.support.callers.world import world_of
from tests.support.servers.gateways import make_tenant
from tests.surfaces.test_permissions import caller_for

pytestmark = pytest.mark.both_databases

PLACES = exposed(make_schema()._schema)
LISTS = sorted(name for name in PLACES if name.startswith("list_"))
NAMES = ["Almanac", "Birds", "Coast", "Dunes", "Estuary"]
INFO = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
WALK = f"""
query Walk($first: Int, $after: String, $sorting: [ShareSorting!]) {{
  shares(first: $first, after: $after, sorting: $sorting) {{
    edges {{ cursor node {{ name prices {{ amountType }} workspace {{ id }} }} }}
    {INFO}
  }}
}}
"""


@pytest_asyncio.fixture(scope="module")
async def world(gateway):
    """A tenant with one of each resource."""
    tenant = await make_tenant(gateway)
    return tenant, await world_of(gateway, tenant)


@pytest_asyncio.fixture
async def shares(gateway, tenant):
    workspace = GraphQL(gateway.client, gateway.app, tenant.token)
    for name in NAMES:
        await workspace.create_share(data={"name": name, "prices": [{"amount_type": "free"}]})


@pytest.mark.parametrize("name", LISTS)
async def test_every_list_is_a_connection_too(gateway, world, name):
    tenant, made = world
    place = PLACES[name]
    page = get_named_type(place.field.type)
    item = selection(page.fields["data"].type)
    assert "first" in place.field.args
    arguments = {to_camel_case(key): value for key, value in EXAMPLES[name](made).items()}
    declared = ", ".join(f"${key}: {place.field.args[key].type}" for key in arguments)
    given = ", ".join(["first: 100", *(f"{key}: ${key}" for key in arguments)])
    asked = f"data{item} meta {{ nextCursor }} edges {{ cursor node{item} }} {INFO}"
    fields = " { ".join(place.path) + f"({given}) {{ {asked} }}" + " }" * (len(place.path) - 1)
    caller = partial(Rest, gateway.client, gateway.app)
    surface = await caller_for(caller, gateway, tenant, name, made.customer_token)
    body = {
        "query": f"query{f'({declared})' if declared else ''} {{ {fields} }}",
        "variables": {key: to_graphql(place.field.args[key].type, value) for key, value in arguments.items()},
    }
    answer = (await gateway.client.post("/graphql", json=body, headers=surface._sent_headers())).json()
    assert "errors" not in answer
    listed = answer["data"]
    for step in place.path:
        listed = listed[step]
    assert [edge["node"] for edge in listed["edges"]] == listed["data"]
    cursors = [edge["cursor"] for edge in listed["edges"]]
    assert len(set(cursors)) == len(cursors)
    assert listed["pageInfo"] == {
        "hasNextPage": False,
        "hasPreviousPage": False,
        "startCursor": cursors[0] if cursors else None,
        "endCursor": cursors[-1] if cursors else None,
    }


@pytest.mark.parametrize("sorting", [None, ["NAME_DESC"], ["PRICE_AMOUNT", "NAME"]], ids=str)
async def test_a_client_walks_a_list_by_end_cursors(graphql, shares, sorting):
    seen, after, pages = [], None, 0
    while True:
        answer = await graphql(WALK, first=2, after=after, sorting=sorting)
        page = answer["data"]["shares"]
        seen += [edge["node"]["name"] for edge in page["edges"]]
        assert page["pageInfo"]["hasPreviousPage"] is (pages > 0)
        pages += 1
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert pages == 3
    assert seen == (sorted(NAMES) if sorting == ["PRICE_AMOUNT", "NAME"] else sorted(NAMES, reverse=True))


async def test_the_cursor_of_each_edge_continues_after_it(graphql, shares, tenant):
    first = (await graphql(WALK, first=5))["data"]["shares"]["edges"]
    assert first[0]["node"] == {
        "name": "Estuary",
        "prices": [{"amountType": "FREE"}],
        "workspace": {"id": tenant.id},
    }
    for index, edge in enumerate(first):
        rest = (await graphql(WALK, first=5, after=edge["cursor"]))["data"]["shares"]
        assert [each["node"]["name"] for each in rest["edges"]] == [
            each["node"]["name"] for each in first[index + 1 :]
        ]


async def test_an_empty_page_has_no_cursors(graphql):
    page = (await graphql(WALK, first=5))["data"]["shares"]
    assert page["edges"] == []
    assert page["pageInfo"] == {
        "hasNextPage": False,
        "hasPreviousPage": False,
        "startCursor": None,
        "endCursor": None,
    }


@pytest.mark.parametrize(("first", "size"), [(None, 5), (1, 1), (100, 5)])
async def test_first_is_the_limit(graphql, shares, first, size):
    assert len((await graphql(WALK, first=first))["data"]["shares"]["edges"]) == size


@pytest.mark.parametrize("first", [0, 101, -1])
async def test_a_first_out_of_bounds_is_refused(graphql, first):
    (error,) = (await graphql(WALK, first=first))["errors"]
    assert error["extensions"]["code"] == "invalid"
    (entry,) = error["extensions"]["detail"]
    assert entry["loc"] == ["first"]


async def test_first_does_not_hide_a_limit_out_of_bounds(graphql):
    (error,) = (await graphql("{ shares(first: 2, limit: 101) { meta { total } } }"))["errors"]
    (entry,) = error["extensions"]["detail"]
    assert (entry["loc"], entry["msg"]) == (["limit"], "`limit` should be less than or equal to 100")
