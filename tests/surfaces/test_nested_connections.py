"""Lists behind links as Relay's connections: pages after cursors, by plans and by the stock executor."""

import re
from base64 import urlsafe_b64encode

import pytest
import pytest_asyncio

from resolvers.graph.root import make_schema
from resolvers.links import LINKS
from resolvers.operations.rows.links import ToMany
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.executor.resolvers import without_plans
from tests.support.servers.gateways import bearer
from tests.support.statements.plans import plan_of
from tests.support.statements.statements import noted

pytestmark = pytest.mark.both_databases

NAMES = ["first", "second", "third", "fourth", "fifth"]
INFO = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
OTHER_LIST = "`after`: The cursor does not belong to this list with this sorting and these filters"
# The cursors of the first and the last are made before those of all: both are the same on a page of two.
EVENTS = f"{INFO} edges {{ cursor node {{ name }} }} meta {{ total nextCursor }}"
WALK = f"""
query Walk($id: ID!, $first: Int, $after: String) {{
  node(id: $id) {{ ... on Customer {{ events(first: $first, after: $after) {{ {EVENTS} }} }} }}
}}
"""


@pytest.fixture(params=["plan", "executor"], autouse=True)
def way(request, gateway, monkeypatch):
    """The plan of a document answers it, or graphql-core's executor."""
    if request.param == "executor":
        without_plans(monkeypatch, gateway.app.state.schema)


@pytest_asyncio.fixture
async def customers(gateway, tenant):
    """The ids of two customers, each with an event of each name besides that of its creation."""
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    emails = ("ada@example.com", "zoe@example.com")
    made = [await workspace.create_customer(data={"email": email}) for email in emails]
    events = [
        {"name": name, "customer_id": each["id"], "timestamp": f"2026-01-01T00:00:0{place}Z"}
        for each in made
        for place, name in enumerate(NAMES)
    ]
    await workspace.ingest_events(data={"events": events})
    return [each["id"] for each in made]


def test_every_list_behind_a_link_is_paged_alike():
    schema = make_schema()._schema
    lists = [(model, name) for model, links in LINKS.items() for name in links]
    lists = [(model, name) for model, name in lists if isinstance(LINKS[model][name], ToMany)]
    assert len(lists) >= 6
    for model, name in lists:
        fields = schema.type_map[model.__name__].fields
        (declared,) = (each for key, each in fields.items() if key.lower() == name.replace("_", ""))
        assert set(declared.args) == {"limit", "page", "first", "after"}
        assert not any(key.is_nullable for key in LINKS[model][name].listing.order(()))


async def test_a_client_walks_a_nested_list_as_the_root_field_does(graphql, customers):
    seen, after = [], None
    for page in range(3):
        answer = (await graphql(WALK, id=customers[0], first=2, after=after))["data"]
        events = answer["node"]["events"]
        seen += [edge["node"]["name"] for edge in events["edges"]]
        assert events["pageInfo"]["hasPreviousPage"] is (page > 0)
        assert events["pageInfo"]["hasNextPage"] is (page < 2)
        assert events["meta"]["total"] == (6 if page == 0 else None)
        assert events["meta"]["nextCursor"] == (events["pageInfo"]["endCursor"] if page < 2 else None)
        # The root field goes on after the same cursor.
        same = "events(customerId: [$id], after: $after, first: 1)"
        root = f"query ($id: ID!, $after: String) {{ {same} {{ edges {{ node {{ name }} }} }} }}"
        rest = (await graphql(root, id=customers[0], after=events["edges"][0]["cursor"]))["data"]["events"]
        assert rest["edges"][0]["node"] == events["edges"][1]["node"]
        after = events["pageInfo"]["endCursor"]
    assert seen == ["customer.created", *reversed(NAMES)]
    past = (await graphql(WALK, id=customers[0], first=2, after=after))["data"]["node"]["events"]
    assert (past["edges"], past["pageInfo"]["endCursor"], past["pageInfo"]["hasNextPage"]) == (
        [],
        None,
        False,
    )


@pytest.mark.parametrize("way", ["plan"], indirect=True)
async def test_a_page_after_a_cursor_begins_in_an_index(gateway, graphql, customers):
    document = (
        "query ($id: ID!, $after: String) { customer(id: $id) { events(after: $after) { data { id } } } }"
    )
    page = (await graphql(WALK, id=customers[0], first=1))["data"]["node"]["events"]
    with noted(gateway.database) as statements:
        await graphql(document, id=customers[0], after=page["pageInfo"]["endCursor"])
    bounds = (
        r"\(timestamp,id\)<\(\?,\?\)"
        if gateway.database.is_sqlite
        else r'Index Cond:.*ROW\("timestamp", id\) <'
    )
    plan = await plan_of(gateway.database, statements[-1])
    assert any(re.search(bounds, step) for step in plan), plan


async def test_a_cursor_of_another_object_is_refused_where_it_is_asked(graphql, customers):
    page = (await graphql(WALK, id=customers[0], first=1))["data"]["node"]["events"]
    listed = "customers(sorting: [EMAIL]) { data { id events(after: $after) { data { name } } } }"
    document = f"query ($after: String) {{ {listed} }}"
    answer = await graphql(document, after=page["pageInfo"]["endCursor"])
    own, other = answer["data"]["customers"]["data"]
    assert [each["name"] for each in own["events"]["data"]] == list(reversed(NAMES))
    assert other == {"id": customers[1], "events": None}
    (error,) = answer["errors"]
    assert error["path"] == ["customers", "data", 1, "events"]
    assert error["message"] == OTHER_LIST
    assert error["extensions"]["detail"][0]["loc"] == ["after"]


def junk(text):
    return f"{urlsafe_b64encode(text.encode()).decode().rstrip('=')}.{'x' * 43}"


JUNK = [
    "",
    "x",
    "é.x",
    junk("null"),
    junk("[1, 2]"),
    junk('["2026-01-01", "x"]'),
    junk('["0001-01-01T00:00:00+14:00", "00000000-0000-0000-0000-000000000000"]'),
    junk('["2026-01-01T00:00:00Z", "00000000-0000-0000-0000-000000000000"]'),
    junk('["\\ud800", "\\u0000"]'),
    junk("[" * 2000),
]


async def test_what_is_no_cursor_is_refused(graphql, customers):
    for cursor in JUNK:
        answer = await graphql(WALK, id=customers[0], first=1, after=cursor)
        assert answer["data"] == {"node": {"events": None}}, cursor
        (error,) = answer["errors"]
        assert (error["path"], error["message"]) == (["node", "events"], OTHER_LIST), cursor


REFUSED = {
    "first: 0": "`first` should be between 1 and 100",
    "first: 2, limit: 101": "`limit` should be between 1 and 100",
    'page: 2, after: "x"': "Send either `page` or `after`, not both",
}


async def test_arguments_out_of_bounds_are_refused(graphql, customers):
    for arguments, problem in REFUSED.items():
        answer = await graphql(f"{{ customers {{ data {{ events({arguments}) {{ data {{ id }} }} }} }} }}")
        assert [each["events"] for each in answer["data"]["customers"]["data"]] == [None, None]
        for error in answer["errors"]:
            assert [each["msg"] for each in error["extensions"]["detail"]] == [problem]


async def test_a_first_costs_what_a_limit_costs(gateway, tenant):
    costs = []
    for arguments in ("limit: 50", "first: 50", 'first: 50, after: "x"'):
        text = f"{{ customers(limit: 50) {{ data {{ events({arguments}) {{ data {{ id }} }} }} }} }}"
        sent = {"query": text, "extensions": {"cost": True}}
        answer = await gateway.client.post("/graphql", json=sent, headers=bearer(tenant.token))
        costs.append(answer.json()["extensions"]["cost"]["requested"])
    assert costs == [26, 26, 26]


async def test_nothing_is_read_behind_another_callers_cursor(gateway, graphql, tenant, customers):
    page = (await graphql(WALK, id=customers[0], first=1))["data"]["node"]["events"]
    other = GraphQL(gateway.client, gateway.app, tenant.personal_token)
    sent = {"query": WALK, "variables": {"id": customers[0], "after": page["pageInfo"]["endCursor"]}}
    answer = await gateway.client.post("/graphql", json=sent, headers=other._sent_headers())
    assert answer.json()["data"] == {"node": {"events": None}}
