"""Sending events in, from outside: every case runs over GraphQL and over REST, on both databases."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from oauth.scopes import Scope
from tests.support.callers.refusals import UNKNOWN_ID, refused
from tests.support.callers.surfaces import Refused
from tests.support.databases.facts import read_facts
from tests.support.servers.gateways import make_token


async def ingest(surface, *events):
    """Send a batch; gives the counts of the answer."""
    answer = await surface.ingest_events(data={"events": list(events)})
    assert len(answer.pop("ids")) == len(events)
    return answer


async def problems_of(surface, *events):
    with pytest.raises(Refused) as refused:
        await ingest(surface, *events)
    assert refused.value.status == 422
    return refused.value.problems


async def only_event(surface, **filters):
    (event,) = (await surface.list_events(source="user", **filters))["data"]
    return event


@pytest.fixture
def facts(gateway, tenant):
    return lambda *kinds: read_facts(gateway, tenant, *kinds)


async def test_an_event_keeps_all_that_was_sent(surface, tenant):
    team = await surface.create_customer(
        data={"email": "t@example.com", "external_id": "team-1", "type": "team"}
    )
    member = await surface.create_member(
        data={"customer_id": team["id"], "email": "bo@example.com", "external_id": "bo"}
    )
    share = await surface.create_share(data={"name": "Report", "prices": [{"amount_type": "free"}]})
    counts = await ingest(
        surface,
        {
            "name": "page.viewed",
            "timestamp": "2026-01-31T10:30:00+01:00",
            "external_id": "e-1",
            "external_customer_id": "team-1",
            "external_member_id": "bo",
            "share_id": share["id"],
            "metadata": {"path": "/", "seconds": 2.5},
            "cost": {"amount": "0.5", "currency": "usd"},
        },
    )
    assert counts == {"inserted": 1, "duplicates": 0}
    event = await only_event(surface)
    assert event["customer"]["id"] == team["id"]
    assert {**event, "customer": None} == {
        "id": event["id"],
        "timestamp": "2026-01-31T09:30:00.000000Z",
        "workspace_id": tenant.id,
        "customer_id": team["id"],
        "share_id": share["id"],
        "customer": None,
        "external_customer_id": "team-1",
        "label": "page.viewed",
        "source": "user",
        "name": "page.viewed",
        "metadata": {"path": "/", "seconds": 2.5},
        "member_id": member["id"],
        "external_member_id": "bo",
        "child_count": 0,
        "parent_id": None,
        "external_id": "e-1",
        "cost": {"amount": "0.5", "currency": "usd"},
    }


async def test_an_event_without_a_moment_happened_now(surface):
    before = datetime.now(UTC)
    await ingest(surface, {"name": "page.viewed"})
    moment = datetime.fromisoformat((await only_event(surface))["timestamp"])
    assert before <= moment <= datetime.now(UTC)


async def test_an_event_is_at_most_five_minutes_ahead(surface):
    soon = (datetime.now(UTC) + timedelta(minutes=4)).isoformat()
    late = (datetime.now(UTC) + timedelta(minutes=6)).isoformat()
    found = await problems_of(surface, {"name": "a", "timestamp": soon}, {"name": "b", "timestamp": late})
    assert found == {("events", 1, "timestamp"): "ahead"}
    assert await ingest(surface, {"name": "a", "timestamp": soon}) == {"inserted": 1, "duplicates": 0}


async def test_no_event_is_on_the_first_day_of_the_year_1_which_postgresql_does_not_keep(surface):
    moments = ["0001-01-01T00:00:00Z", "0001-01-01T23:59:59.999999Z", "0001-01-02T00:00:00.000000Z"]
    events = [{"name": "a", "timestamp": moment} for moment in moments]
    found = await problems_of(surface, *events)
    assert found == {("events", 0, "timestamp"): "early", ("events", 1, "timestamp"): "early"}
    await ingest(surface, events[2])
    assert (await only_event(surface))["timestamp"] == moments[2]


async def test_a_repeat_changes_nothing_even_if_it_differs(surface, facts):
    first = {"name": "page.viewed", "external_id": "e-1", "cost": {"amount": 1, "currency": "usd"}}
    other = {"name": "page.closed", "external_id": "e-1", "customer_id": UNKNOWN_ID}
    assert await ingest(surface, first) == {"inserted": 1, "duplicates": 0}
    assert await ingest(surface, other, {"name": "page.left"}) == {"inserted": 1, "duplicates": 1}
    events = (await surface.list_events(source="user"))["data"]
    assert {event["name"] for event in events} == {"page.viewed", "page.left"}
    assert len(await facts("event")) == 2
    assert len(await facts("cost")) == 1


async def test_a_repeat_within_a_batch_is_a_duplicate(surface, facts):
    counts = await ingest(
        surface,
        {"name": "first", "external_id": "e-1"},
        {"name": "second", "external_id": "e-1"},
        {"name": "third"},
        {"name": "third"},
    )
    assert counts == {"inserted": 3, "duplicates": 1}
    assert (await surface.list_events(name=["second"]))["data"] == []
    assert len(await facts("event")) == 3


async def test_an_external_id_is_unique_in_its_workspace_only(surface, caller, other_tenant):
    event = {"name": "page.viewed", "external_id": "e-1"}
    await ingest(surface, event)
    assert await ingest(caller(other_tenant.token), event) == {"inserted": 1, "duplicates": 0}


async def test_every_bad_event_is_named_and_none_is_taken(surface, facts):
    found = await problems_of(
        surface,
        {"name": "good", "external_customer_id": "c-1"},
        {"name": "page.viewed", "customer_id": UNKNOWN_ID},
        {"name": "page.viewed", "share_id": UNKNOWN_ID, "parent_id": UNKNOWN_ID},
        {"name": "page.viewed", "parent_id": "nothing"},
    )
    assert found == {
        ("events", 1, "customer_id"): "not_found",
        ("events", 2, "share_id"): "not_found",
        ("events", 2, "parent_id"): "not_found",
        ("events", 3, "parent_id"): "not_found",
    }
    assert (await surface.list_events())["data"] == []
    assert await facts("event") == []


@pytest.mark.parametrize(
    ("event", "field", "kind"),
    [
        ({"name": ""}, ("name",), "string_too_short"),
        ({"name": "x" * 129}, ("name",), "string_too_long"),
        ({"name": "customer.created"}, ("name",), "reserved"),
        ({"name": "a", "timestamp": "yesterday"}, ("timestamp",), "datetime_parsing"),
        ({"name": "a", "external_id": ""}, ("external_id",), "string_too_short"),
        ({"name": "a", "metadata": {"k": None}}, ("metadata", "k"), "metadata_value"),
    ],
)
async def test_bad_fields_are_named(surface, event, field, kind):
    assert await problems_of(surface, {"name": "good"}, event) == {("events", 1, *field): kind}


async def test_a_batch_holds_1_to_1000_events(surface):
    event = {"name": "page.viewed"}
    assert await problems_of(surface) == {("events",): "too_short"}
    assert await problems_of(surface, *[event] * 1001) == {("events",): "too_long"}
    assert await ingest(surface, *[event] * 1000) == {"inserted": 1000, "duplicates": 0}


async def test_a_parent_is_named_by_its_id_or_by_its_external_id_in_the_batch(surface):
    await ingest(surface, {"name": "root", "external_id": "root"})
    root = await only_event(surface)
    counts = await ingest(
        surface,
        {"name": "leaf", "parent_id": "branch"},
        {"name": "branch", "external_id": "branch", "parent_id": root["id"]},
        {"name": "leaf", "parent_id": "root"},
        {"name": "root", "external_id": "root"},
    )
    assert counts == {"inserted": 3, "duplicates": 1}
    branch = await only_event(surface, name=["branch"])
    assert (branch["parent_id"], branch["child_count"]) == (root["id"], 1)
    parents = {event["parent_id"] for event in (await surface.list_events(name=["leaf"]))["data"]}
    assert parents == {branch["id"], root["id"]}


async def test_another_workspaces_event_is_no_parent(surface, caller, other_tenant):
    stranger = caller(other_tenant.token)
    await ingest(stranger, {"name": "root"})
    root = await only_event(stranger)
    found = await problems_of(surface, {"name": "leaf", "parent_id": root["id"]})
    assert found == {("events", 0, "parent_id"): "not_found"}


async def test_no_event_descends_from_itself(surface):
    found = await problems_of(
        surface,
        {"name": "a", "external_id": "a", "parent_id": "b"},
        {"name": "b", "external_id": "b", "parent_id": "a"},
        {"name": "c", "external_id": "c", "parent_id": "a"},
        {"name": "d", "external_id": "d", "parent_id": "d"},
    )
    assert found == {("events", place, "parent_id"): "cycle" for place in (0, 1, 3)}


async def test_members_are_the_customers_own(surface):
    team, other = [
        await surface.create_customer(data={"email": f"{name}@example.com", "type": "team"}) for name in "ab"
    ]
    own = await surface.create_member(
        data={"customer_id": team["id"], "email": "bo@example.com", "external_id": "bo"}
    )
    await surface.create_member(
        data={"customer_id": team["id"], "email": "cy@example.com", "external_id": "cy"}
    )
    found = await problems_of(
        surface,
        {"name": "a", "customer_id": other["id"], "member_id": own["id"]},
        {"name": "b", "customer_id": other["id"], "external_member_id": "bo"},
        {"name": "c", "member_id": own["id"]},
        {"name": "d", "external_member_id": "bo"},
        {"name": "e", "customer_id": team["id"], "member_id": own["id"], "external_member_id": "cy"},
        {"name": "f", "customer_id": team["id"], "member_id": own["id"], "external_member_id": "bo"},
    )
    assert found == {
        ("events", 0, "member_id"): "not_found",
        ("events", 1, "external_member_id"): "not_found",
        ("events", 2, "member_id"): "not_found",
        ("events", 3, "external_member_id"): "not_found",
        ("events", 4, "external_member_id"): "conflict",
    }


async def test_a_member_of_an_unknown_customer_is_kept_as_sent(surface):
    await ingest(surface, {"name": "a", "external_customer_id": "team-9", "external_member_id": "bo"})
    event = await only_event(surface)
    assert (event["member_id"], event["external_member_id"]) == (None, "bo")
    assert (event["customer_id"], event["external_customer_id"]) == (None, "team-9")


async def test_two_batches_at_once_take_each_event_once(surface, facts):
    events = [
        {"name": f"n-{n}", "external_id": f"e-{n}", "external_customer_id": f"c-{n}"} for n in range(40)
    ]
    batches = [events, events[::-1], events[10:], events[:30][::-1]]
    counts = await asyncio.gather(*(ingest(surface, *batch) for batch in batches))
    assert sum(count["inserted"] for count in counts) == 40
    assert sum(count["duplicates"] for count in counts) == 40 * 2 + 30 * 2 - 40
    assert (await surface.list_events(source="user", limit=1))["meta"]["total"] == 40
    measured = await facts("event")
    assert len(measured) == 40
    assert len({fact["person"] for fact in measured}) == 40


async def test_a_child_finds_its_parent_though_another_batch_was_faster(surface):
    batches = [
        [{"name": "root", "external_id": "root"}, {"name": "leaf", "parent_id": "root"}] for _ in range(6)
    ]
    counts = await asyncio.gather(*(ingest(surface, *batch) for batch in batches))
    assert sum(count["inserted"] for count in counts) == 7
    assert (await only_event(surface, name=["root"]))["child_count"] == 6


async def test_events_need_their_scope(caller, gateway, tenant):
    reader = caller(await make_token(gateway, tenant, Scope.EVENTS_READ))
    await refused(ingest(reader, {"name": "a"}), 403, "insufficient_scope")


async def test_a_retry_under_the_same_key_answers_the_same_counts(surface):
    keyed = surface.with_headers(Idempotency_Key="batch-1")
    assert await ingest(keyed, {"name": "a"}) == {"inserted": 1, "duplicates": 0}
    assert await ingest(keyed, {"name": "a"}) == {"inserted": 1, "duplicates": 0}
    assert (await surface.list_events(source="user"))["meta"]["total"] == 1
