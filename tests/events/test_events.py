"""Events, from outside: every case runs over GraphQL and over REST, on both databases."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from oauth.scopes import Scope
from storage.enums import EventSource
from storage.rows.rows import insert_rows
from storage.tables.events.events import EventRow
from tests.support.callers.refusals import UNKNOWN_ID, refused
from tests.support.callers.surfaces import Refused
from tests.support.servers.gateways import make_token

START = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


@pytest.fixture
def report(gateway, tenant):
    """Write events of the workspace's own, a minute apart, as its systems send them; their ids."""

    async def write(*events, **common):
        rows = [
            {
                "workspace_id": UUID(tenant.id),
                "source": EventSource.USER,
                "name": "page.viewed",
                "timestamp": START + timedelta(minutes=minute),
                **common,
                **event,
            }
            for minute, event in enumerate(events)
        ]
        async with gateway.database.write() as connection:
            return [str(row.id) for row in await insert_rows(connection, EventRow, rows)]

    return write


async def ids(surface, **arguments):
    return [event["id"] for event in (await surface.list_events(**arguments))["data"]]


async def test_an_event_has_every_field(surface, tenant):
    customer = await surface.create_customer(data={"email": "ada@example.com"})
    (event,) = (await surface.list_events())["data"]
    expected = dict(customer)
    if surface.name == "rest":
        del expected["members"]
    assert event == {
        "id": event["id"],
        "timestamp": event["timestamp"],
        "workspace_id": tenant.id,
        "customer_id": customer["id"],
        "share_id": None,
        "customer": expected,
        "external_customer_id": None,
        "label": "Customer Created",
        "source": "system",
        "name": "customer.created",
        "metadata": {
            "customer_id": customer["id"],
            "customer_email": "ada@example.com",
            "customer_name": None,
            "customer_external_id": None,
        },
        "member_id": None,
        "external_member_id": None,
        "child_count": 0,
        "parent_id": None,
        "external_id": None,
        "cost": None,
    }
    assert await surface.get_event(id=event["id"]) == event


async def test_an_event_without_a_customer_has_its_name_as_label(surface, report):
    (id,) = await report({"metadata": {"path": "/", "seconds": 2.5, "count": 2**53, "first": True}})
    event = await surface.get_event(id=id)
    assert (event["customer"], event["customer_id"], event["source"]) == (None, None, "user")
    assert event["label"] == event["name"] == "page.viewed"
    assert event["timestamp"] == "2026-01-31T09:30:00.000000Z"
    assert event["metadata"] == {"path": "/", "seconds": 2.5, "count": 2**53, "first": True}


async def test_direct_children_are_counted(surface, report):
    (root,) = await report({})
    children = await report({}, {}, parent_id=UUID(root))
    await report({}, parent_id=UUID(children[0]))
    counts = {event["id"]: event["child_count"] for event in (await surface.list_events())["data"]}
    assert (counts[root], counts[children[0]], counts[children[1]]) == (2, 1, 0)
    assert (await surface.get_event(id=root))["child_count"] == 2
    assert await ids(surface, parent_id=root, sorting=["timestamp"]) == children
    assert (await surface.get_event(id=children[0]))["parent_id"] == root


async def test_a_range_takes_its_start_and_leaves_out_its_end(surface, report):
    events = await report({}, {}, {}, {})
    oldest_first = {"sorting": ["timestamp"]}
    assert await ids(surface, **oldest_first) == events
    assert await ids(surface) == events[::-1]
    assert (
        await ids(
            surface,
            start_timestamp="2026-01-31T09:31:00Z",
            end_timestamp="2026-01-31T10:33:00+01:00",
            **oldest_first,
        )
        == events[1:3]
    )
    assert await ids(surface, start_timestamp="2026-01-31T09:33:00Z") == events[3:]
    assert await ids(surface, end_timestamp="2026-01-31T09:30:00Z") == []


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"name": ["page.viewed"]}, [0, 2]),
        ({"name": ["page.viewed", "page.closed"]}, [0, 1, 2]),
        ({"name": ["page"]}, []),
        ({"source": "user"}, [0, 1, 2]),
        ({"external_customer_id": "c-9"}, [1]),
        ({"external_customer_id": "C-9"}, []),
        ({"metadata": [{"key": "plan", "value": "pro"}]}, [0, 1]),
        ({"metadata": [{"key": "plan", "value": "pro"}, {"key": "seats", "value": "3"}]}, [1]),
        ({"parent_id": UNKNOWN_ID}, []),
        ({"customer_id": [UNKNOWN_ID]}, []),
        ({"name": ["page.viewed"], "source": "system"}, []),
    ],
)
async def test_lists_are_filtered(surface, report, filters, found):
    await surface.create_customer(data={"email": "ada@example.com"})
    events = await report(
        {"metadata": {"plan": "pro"}},
        {"name": "page.closed", "external_customer_id": "c-9", "metadata": {"plan": "pro", "seats": 3}},
        {"metadata": {"plan": 1}},
    )
    listed = await ids(surface, sorting=["timestamp"], **filters)
    assert listed == [events[place] for place in found]


async def test_a_customers_events_are_found_by_either_of_its_ids(surface, report):
    customer = await surface.create_customer(data={"email": "ada@example.com"})
    (named,) = await report({"customer_id": UUID(customer["id"])})
    (told,) = await report({"external_customer_id": "c-1", "name": "page.closed"})
    await surface.update_customer(id=customer["id"], data={"external_id": "c-1"})
    (created,) = await ids(surface, source="system")
    assert set(await ids(surface, customer_id=[customer["id"]])) == {created, named}
    assert set(await ids(surface, external_customer_id="c-1")) == {created, named, told}


@pytest.mark.parametrize(
    "arguments",
    [
        {"start_timestamp": "2026-01-31"},
        {"end_timestamp": "1700000000"},
        {"end_timestamp": "2026-01-31T09:30:00"},
        {"source": "nobody"},
        {"parent_id": "x"},
        {"limit": 101},
        {"page": 0},
        {"colour": "red"},
    ],
)
async def test_a_filter_that_cannot_be_read_is_named(surface, arguments):
    with pytest.raises(Refused) as refused:
        await surface.list_events(**arguments)
    assert refused.value.status == 422
    assert [place[0] for place in refused.value.problems] == list(arguments)


async def test_names_tell_how_often_and_when_they_occur(surface, report):
    await surface.create_customer(data={"email": "ada@example.com"})
    await report({}, {}, {"name": "page.closed", "timestamp": START + timedelta(days=1)})
    page = await surface.list_event_names()
    created, closed, viewed = page["data"]
    assert (created["name"], created["source"], created["occurrences"]) == ("customer.created", "system", 1)
    assert closed == {
        "name": "page.closed",
        "source": "user",
        "occurrences": 1,
        "first_seen": "2026-02-01T09:30:00.000000Z",
        "last_seen": "2026-02-01T09:30:00.000000Z",
    }
    assert (viewed["name"], viewed["occurrences"]) == ("page.viewed", 2)
    assert (viewed["first_seen"], viewed["last_seen"]) == (
        "2026-01-31T09:30:00.000000Z",
        "2026-01-31T09:31:00.000000Z",
    )
    assert page["meta"]["total"] == 3
    assert page["pagination"] == {"total_count": 3, "max_page": 1}

    users = await surface.list_event_names(source="user", end_timestamp="2026-01-31T09:31:00Z")
    assert [(name["name"], name["occurrences"]) for name in users["data"]] == [("page.viewed", 1)]


@pytest.mark.parametrize(
    "sorting", ["name", "-name", "-occurrences", "occurrences", "-last_seen", "first_seen"]
)
async def test_names_are_read_on_by_page_and_by_cursor(surface, report, sorting):
    await report(*({"name": f"step.{n % 5}"} for n in range(12)))
    whole = [name["name"] for name in (await surface.list_event_names(sorting=[sorting]))["data"]]
    assert sorted(whole) == [f"step.{n}" for n in range(5)]
    read, page = [], await surface.list_event_names(sorting=[sorting], limit=2)
    while True:
        read += [name["name"] for name in page["data"]]
        if (cursor := page["meta"]["next_cursor"]) is None:
            break
        page = await surface.list_event_names(sorting=[sorting], limit=2, after=cursor)
    assert read == whole
    second = await surface.list_event_names(sorting=[sorting], limit=2, page=2)
    assert [name["name"] for name in second["data"]] == whole[2:4]


async def test_another_workspaces_event_does_not_exist(surface, report, tenant, other_tenant):
    (id,) = await report({"external_customer_id": "c-1"})
    other = surface.with_token(other_tenant.token)
    for attempt in (
        other.get_event(id=id),
        other.list_events(workspace_id=[tenant.id]),
        other.list_event_names(workspace_id=[tenant.id]),
    ):
        await refused(attempt, 404, "not_found")
    assert await ids(other, external_customer_id="c-1") == []
    assert (await other.list_event_names())["data"] == []


async def test_events_need_their_scope(surface, gateway, tenant):
    stranger = surface.with_token(await make_token(gateway, tenant, Scope.CUSTOMERS_WRITE))
    for attempt in (stranger.list_events(), stranger.list_event_names(), stranger.get_event(id=UNKNOWN_ID)):
        with pytest.raises(Refused, match=r"insufficient_scope.*`events:read` or `events:write`"):
            await attempt
