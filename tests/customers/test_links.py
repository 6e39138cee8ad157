"""Links of customers and events: GraphQL only, batched, and nothing that the caller may not see."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from oauth.scopes import Scope
from storage.enums import EventSource
from storage.rows.rows import insert_rows
from storage.tables.events.events import EventRow
from tests.support.callers.surfaces import GraphQL
from tests.support.servers.gateways import make_token
from tests.support.statements.statements import noted

START = datetime(2026, 1, 31, tzinfo=UTC)


@pytest.fixture
async def history(gateway, tenant):
    """Three customers with 0, 3 and 5 visits; the last visit of each has two children."""
    surface = GraphQL(gateway.client, gateway.app, tenant.token)
    customers = [
        await surface.create_customer(data={"email": f"{visits}@example.com"}) for visits in (0, 3, 5)
    ]

    def row(number, **values):
        moment = START + timedelta(minutes=number)
        base = {"workspace_id": UUID(tenant.id), "source": EventSource.USER, "timestamp": moment}
        return base | values

    async with gateway.database.write() as connection:
        for customer, visits in zip(customers, (0, 3, 5), strict=True):
            rows = [row(n, name=f"visit {n}", customer_id=UUID(customer["id"])) for n in range(visits)]
            made = await insert_rows(connection, EventRow, rows)
            if made:
                steps = [row(n, name=f"step {n}", parent_id=made[-1].id) for n in range(2)]
                await insert_rows(connection, EventRow, steps)
    return customers


async def test_each_customer_has_a_page_of_its_own_events(graphql, history):
    answer = await graphql("""
    { customers(sorting: [EMAIL]) { data { email workspace { slug }
        events(limit: 2) { data { name } meta { total page perPage pages nextCursor }
                           pagination { totalCount maxPage } } } } }
    """)
    none, three, five = answer["data"]["customers"]["data"]
    assert none["events"]["data"] == [{"name": "customer.created"}]
    assert none["events"]["meta"] == {"total": 1, "page": 1, "perPage": 2, "pages": 1, "nextCursor": None}
    assert [customer["events"]["meta"]["total"] for customer in (three, five)] == [4, 6]
    assert five["events"]["pagination"] == {"totalCount": 6, "maxPage": 3}
    # The customers were made today, after the visits.
    assert [item["name"] for item in five["events"]["data"]] == ["customer.created", "visit 4"]


async def test_pages_of_a_link_cover_the_list_once_and_end_with_the_true_total(graphql, history):
    pages = " ".join(
        f"p{page}: events(limit: 4, page: {page}) {{ data {{ name }} meta {{ total page nextCursor }} }}"
        for page in (1, 2, 3)
    )
    answer = await graphql(f'{{ customer(id: "{history[2]["id"]}") {{ {pages} }} }}')
    first, second, past = answer["data"]["customer"].values()
    names = [item["name"] for page in (first, second) for item in page["data"]]
    assert names == ["customer.created", *(f"visit {n}" for n in (4, 3, 2, 1, 0))]
    assert past == {"data": [], "meta": {"total": 6, "page": 3, "nextCursor": None}}
    assert second["meta"]["nextCursor"] is None

    follow = f"""
    {{ events(customerId: ["{history[2]["id"]}"], after: "{first["meta"]["nextCursor"]}")
       {{ data {{ name }} }} }}
    """
    assert (await graphql(follow))["data"]["events"]["data"] == second["data"]


async def test_events_lead_to_their_parents_and_children(graphql, history):
    answer = await graphql("""
    { events(name: ["visit 4"]) { data { childCount customer { email members { email } }
        children { data { name parent { name } customer { email } } meta { total } } parent { name } } } }
    """)
    assert answer["data"]["events"]["data"] == [
        {
            "childCount": 2,
            "customer": {"email": "5@example.com", "members": [{"email": "5@example.com"}]},
            "children": {
                "data": [
                    {"name": "step 1", "parent": {"name": "visit 4"}, "customer": None},
                    {"name": "step 0", "parent": {"name": "visit 4"}, "customer": None},
                ],
                "meta": {"total": 2},
            },
            "parent": None,
        }
    ]


@pytest.mark.parametrize(
    ("arguments", "places"),
    [("limit: 0", ["limit"]), ("limit: 101", ["limit"]), ("page: 0, limit: 101", ["limit", "page"])],
)
async def test_a_link_keeps_to_the_bounds_of_a_list(graphql, history, arguments, places):
    answer = await graphql(
        f'{{ customer(id: "{history[0]["id"]}") {{ events({arguments}) {{ data {{ id }} }} }} }}'
    )
    said = [error["extensions"] for error in answer["errors"]]
    assert {extensions["code"] for extensions in said} == {"invalid"}
    assert [entry["loc"] for each in said for entry in each["detail"]] == [[place] for place in places]


async def test_the_largest_page_of_a_link_is_empty(graphql, history):
    document = f"""
    {{ customer(id: "{history[0]["id"]}") {{ events(limit: 100, page: 2147483647) {{ data {{ id }}
       meta {{ total }} }} }} }}
    """
    assert (await graphql(document))["data"]["customer"]["events"] == {"data": [], "meta": {"total": 1}}


async def test_links_need_the_scope_of_what_they_lead_to(graphql, gateway, tenant, history):
    reader = await make_token(gateway, tenant, Scope.CUSTOMERS_READ)
    whole = await graphql("{ customers { data { email members { email } etag } } }", reader)
    assert len(whole["data"]["customers"]["data"]) == 3
    for link in ("events { data { id } }", "workspace { slug }"):
        refused = await graphql(f"{{ customers {{ data {{ {link} }} }} }}", reader)
        assert refused["errors"][0]["extensions"]["code"] == "insufficient_scope"


async def test_links_take_a_constant_number_of_statements(graphql, gateway, history):
    document = """
    {{ customers(limit: {limit}) {{ data {{ etag members {{ name }} workspace {{ slug }}
        events(limit: 3) {{ data {{ childCount customer {{ etag }} parent {{ name }}
                                    children {{ data {{ name }} }} }} }} }} }} }}
    """
    counts = []
    for limit in (1, 3):
        with noted(gateway.database) as statements:
            assert "errors" not in await graphql(document.format(limit=limit))
        counts.append(sum(statement.lstrip().upper().startswith("SELECT") for statement in statements))
    # Of one customer without parents among its events the link to parents asks nothing.
    assert counts[1] <= counts[0] + 3
    assert counts[1] <= 16


async def test_a_page_that_is_not_counted_still_tells_whether_there_is_more(graphql, history):
    pages = " ".join(
        f"p{page}: events(limit: 3, page: {page}) {{ meta {{ nextCursor }} }}" for page in (1, 2)
    )
    answer = await graphql(f'{{ customer(id: "{history[2]["id"]}") {{ {pages} }} }}')
    first, second = (page["meta"]["nextCursor"] for page in answer["data"]["customer"].values())
    assert first is not None
    assert second is None
