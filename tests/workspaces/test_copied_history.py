"""Customers and history in a copy of a workspace: the numbers of the workspace, of people made up."""

import json
from uuid import UUID

import pytest

from resolvers.workspaces import copied_history
from storage.metrics.definitions import BY_SLUG
from tests.support.callers.refusals import refused
from tests.support.databases.ledgers import verify_cells, verify_totals

RANGE = {"start_date": "2026-01-01", "end_date": "2026-02-28", "timezone": "Asia/Kolkata"}
SECRET = "Zenobia"
LISTS = ("customers", "members", "events", "file_share_sessions", "file_share_downloads")
MONEY = ("file_share_payments", "file_share_refunds")
WHOSE = {"rows", "share", "customer", "key", "id", "label", "workspace_id"}


def at(day: int) -> str:
    return f"2026-01-{day:02}T09:00:00.000000Z"


def of_person(name: str) -> dict:
    return {"email": f"{name}.{SECRET}@example.com", "name": f"{name} {SECRET}", "metadata": {"note": SECRET}}


def sold(number: int, **whose) -> dict:
    refunds = [{"external_id": f"{SECRET}-refund-{number}", "amount": 400, "at": at(20)}]
    paid = {"amount": 1500 * number, "currency": "eur", "platform_fee": 75, "at": at(11), "refunds": refunds}
    return {
        "external_id": f"{SECRET}-{number}",
        "created_at": at(10),
        "file_size_bytes": 2**40,
        "price_amount": 1500 * number,
        "price_currency": "eur",
        **whose,
        "downloads": [at(12), at(13)],
        "completed_at": at(14),
        "payments": [{"external_id": f"{SECRET}-payment-{number}", **paid}],
    }


async def reported(owner, home, ada, share) -> None:
    """Sales and events of a customer, and of two whose external ids nobody has."""
    whose = ({"customer_id": ada["id"]}, {"external_customer_id": "late"}, {"external_customer_id": SECRET})
    sessions = [sold(number, share_id=share["id"], **who) for number, who in enumerate(whose, 1)]
    open_one = {"external_id": "open", "created_at": at(15), "file_size_bytes": 7}
    await owner.ingest_file_share_sessions(data={"sessions": [*sessions, open_one], **home})
    cost = {"amount": "0.000000000001", "currency": "usd"}
    events = [
        # Stored before its parent is in the order of time.
        {"external_id": "late-parent", "timestamp": at(18), "name": "opened", **whose[0]},
        {"parent_id": "late-parent", "timestamp": at(17), "name": "read", **whose[0], "cost": cost},
        {
            "timestamp": at(19),
            "name": "read",
            "share_id": share["id"],
            **whose[1],
            "metadata": {"by": SECRET},
        },
        {"timestamp": at(21), "name": "read", **whose[2], "cost": cost},
    ]
    await owner.ingest_events(data={"events": events, **home})


@pytest.fixture
async def busy(owner, tenant):
    """A workspace with sales of a customer, of one who took an external id late, and of a deleted one."""
    home = {"workspace_id": tenant.id}
    share = await owner.create_share(data={"name": "Guide", "prices": [{"amount_type": "free"}], **home})
    ada = await owner.create_customer(
        data={**of_person("Ada"), "external_id": f"{SECRET}-id", "type": "team", **home}
    )
    await owner.create_member(data={"customer_id": ada["id"], "email": f"m.{SECRET}@example.com"})
    await owner.create_customer(data={"email": f"idle.{SECRET}@example.com", **home})
    bob, eve = [await owner.create_customer(data=of_person(name) | home) for name in ("Bob", "Eve")]
    await reported(owner, home, ada, share)
    last = [sold(number, customer_id=who["id"]) for number, who in ((8, bob), (9, eve))]
    await owner.ingest_file_share_sessions(data={"sessions": last, **home})
    # Two persons become one, whose facts have two numbers.
    await owner.update_customer(id=bob["id"], data={"external_id": "late"})
    await owner.delete_customer(id=eve["id"])
    return await owner.get_workspace(id=tenant.id)


async def rows_of(owner, workspace, name):
    filters = {"workspace_id": [workspace["id"]]}
    if name == "members":
        filters = {"customer_id": [each["id"] for each in await rows_of(owner, workspace, "customers")]}
    return (await getattr(owner, f"list_{name}")(**filters, limit=100))["data"]


def numbers(answer):
    """What is counted in an answer about metrics, in an order that ids do not choose."""
    if isinstance(answer, dict):
        return {name: numbers(value) for name, value in answer.items() if name not in WHOSE}
    if isinstance(answer, list):
        parts = [numbers(each) for each in answer]
        return sorted(parts, key=json.dumps) if parts and isinstance(parts[0], dict) else parts
    return answer


async def counted(owner, workspace, **grouping):
    slugs = list(BY_SLUG)
    asked = {**RANGE, "interval": "week", "metrics": slugs, **grouping}
    return numbers(await owner.get_metrics(workspace_id=[workspace["id"]], **asked))


async def check_log(owner, copy):
    """The log tells of each customer, and of the number of the rest."""
    changes = (await owner.get_changes(workspace_id=copy["id"], limit=100))["data"]
    kinds = [change["kind"] for change in changes]
    assert [kinds.count(f"{name}.created") for name in ("customer", "member", "share")] == [3, 4, 1]
    # The data of a batch is its number.
    counts = {each["kind"]: each["data"]["count"] for each in changes if each["kind"].endswith("ingested")}
    assert counts == {"file_share_sessions.ingested": 6, "events.ingested": 4}


async def check_people(owner, copy, external_id):
    """Whoever reports under the id goes on with its person, and whoever is new is nobody who was copied."""
    for ids, active in (([external_id], 3), (["new", "newer", "newest"], 6)):
        events = [{"name": "read", "timestamp": at(21), "external_customer_id": id} for id in ids]
        await owner.ingest_events(data={"events": events, "workspace_id": copy["id"]})
        asked = {**RANGE, "interval": "week", "metrics": ["active_user_by_event"]}
        answer = await owner.get_metrics(workspace_id=[copy["id"]], **asked)
        assert answer["totals"]["active_user_by_event"] == active


async def test_the_numbers_are_the_same_and_the_people_made_up(owner, busy, gateway):
    copy = await owner.copy_workspace(id=busy["id"], data={"include_history": True})
    for grouping in (None, "share", "customer", "currency", "event_name"):
        chosen = {} if grouping is None else {"group_by": grouping}
        expected = await counted(owner, busy, **chosen)
        assert expected["groups"] or "32500" in json.dumps(expected), grouping
        assert await counted(owner, copy, **chosen) == expected, grouping
    for name in (*LISTS, *MONEY):
        before, after = await rows_of(owner, busy, name), await rows_of(owner, copy, name)
        assert len(before) == len(after) > 0, name
        assert SECRET in json.dumps(before) or name == "file_share_downloads"
        assert SECRET not in json.dumps(after)
    for verify in (verify_totals, verify_cells):
        found = await verify(gateway.database, UUID(copy["id"]))
        assert not found.differences


async def test_the_copies_refer_to_each_other_at_their_times_and_are_told(owner, busy):
    copy = await owner.copy_workspace(id=busy["id"], data={"include_history": True})
    await check_log(owner, copy)
    customers = await rows_of(owner, copy, "customers")
    emails = {customer["id"]: customer["email"] for customer in customers}
    assert sorted(emails.values()) == [f"customer-{number}@example.invalid" for number in (1, 2, 3)]
    assert {customer["name"] for customer in customers} == {"Customer 1", None, "Customer 3"}
    sessions = await rows_of(owner, copy, "file_share_sessions")
    assert {session["created_at"] for session in sessions} == {at(10), at(15)}
    assert sorted(session["price_amount"] or 0 for session in sessions) == [0, 1500, 3000, 4500, 12000, 13500]
    (external,) = [each for each in sessions if each["external_customer_id"]]
    assert external["external_customer_id"].startswith("person-")
    events = await rows_of(owner, copy, "events")
    (child,) = [event for event in events if event["parent_id"]]
    assert child["parent_id"] in {event["id"] for event in events if event["name"] == "opened"}
    await check_people(owner, copy, external["external_customer_id"])


async def test_customers_are_copied_without_what_they_did_and_a_history_has_a_limit(
    owner, busy, other_tenant, monkeypatch
):
    history = {"include_history": True}
    await refused(owner.copy_workspace(id=other_tenant.id, data=history), 404, "not_found")
    monkeypatch.setattr(copied_history, "MOST_COPIED", 20)
    failure = await refused(owner.copy_workspace(id=busy["id"], data=history), 403, "not_permitted")
    assert "more than 20 customers" in failure.detail
    copy = await owner.copy_workspace(id=busy["id"], data={"include_customers": True})
    assert len(await rows_of(owner, copy, "customers")) == 3
    assert len(await rows_of(owner, copy, "members")) == 4
    for name in ("events", "file_share_sessions", *MONEY):
        assert await rows_of(owner, copy, name) == []
