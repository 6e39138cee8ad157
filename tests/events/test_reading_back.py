"""Events are read back as they were sent, and ingestion answers their ids."""

import asyncio

from tests.support.callers.refusals import refusal


async def ids_of(surface, *events):
    """Send a batch; gives the ids of its events."""
    return (await surface.ingest_events(data={"events": list(events)}))["ids"]


async def test_a_parent_of_an_earlier_batch_is_named_by_either_id(surface):
    (root, other) = await ids_of(surface, {"name": "root", "external_id": "root"}, {"name": "other"})
    await ids_of(surface, {"name": "named like it", "external_id": other})
    names = {"root": root, root: root, root.upper(): root, other: other}
    leaves = await ids_of(surface, *({"name": "leaf", "parent_id": name} for name in names))
    parents = [(await surface.get_event(id=leaf))["parent_id"] for leaf in leaves]
    assert parents == list(names.values())
    unknown = ids_of(surface, {"name": "leaf", "parent_id": "root-2"})
    assert await refusal(unknown) == {("events", 0, "parent_id"): "not_found"}


async def test_the_answer_has_the_ids_in_the_order_sent(surface):
    (first,) = await ids_of(surface, {"name": "a", "external_id": "z"})
    sent = [
        {"name": "b", "external_id": "y"},
        {"name": "c"},
        {"name": "a", "external_id": "z"},
        {"name": "d", "external_id": "b"},
        {"name": "e"},
        {"name": "b", "external_id": "y"},
    ]
    ids = await ids_of(surface, *sent)
    assert (ids[2], ids[5], len(set(ids))) == (first, ids[0], 5)
    names = [(await surface.get_event(id=id))["name"] for id in ids]
    assert names == [event["name"] for event in sent]


async def test_the_answers_of_batches_at_once_agree_on_ids(surface):
    events = [{"name": f"n-{n}", "external_id": f"e-{n}"} for n in range(20)] + [{"name": "plain"}]
    batches = [events, events[::-1], events]
    answers = await asyncio.gather(*(ids_of(surface, *batch) for batch in batches))
    by_batch = [
        dict(zip((event.get("external_id") for event in batch), ids, strict=True))
        for batch, ids in zip(batches, answers, strict=True)
    ]
    plain = [ids.pop(None) for ids in by_batch]
    assert by_batch[0] == by_batch[1] == by_batch[2]
    assert len(set(plain)) == 3
    for id in (*plain, *by_batch[0].values()):
        await surface.get_event(id=id)


async def test_an_event_leads_to_its_share(gateway, tenant, surface):
    share = await surface.create_share(data={"name": "Report", "prices": [{"amount_type": "free"}]})
    await ids_of(surface, {"name": "seen", "share_id": share["id"]}, {"name": "unseen"})
    document = "{ events(source: USER, sorting: [TIMESTAMP]) { data { name shareId share { name } } } }"
    headers = {"Authorization": f"Bearer {tenant.token}"}
    answer = await gateway.client.post("/graphql", json={"query": document}, headers=headers)
    by_name = {event["name"]: event for event in answer.json()["data"]["events"]["data"]}
    assert (by_name["seen"]["shareId"], by_name["seen"]["share"]) == (share["id"], {"name": "Report"})
    assert (by_name["unseen"]["shareId"], by_name["unseen"]["share"]) == (None, None)


async def test_events_are_read_back_by_external_id_share_currency_and_date(surface):
    share = await surface.create_share(data={"name": "Report", "prices": [{"amount_type": "free"}]})
    ids = await ids_of(
        surface,
        {"name": "a", "external_id": "e-1", "share_id": share["id"], "timestamp": "2026-01-31T22:59:00Z"},
        {"name": "b", "cost": {"amount": 12, "currency": "jpy"}, "timestamp": "2026-01-31T23:00:00Z"},
        {"name": "c", "external_id": "e-3", "cost": {"amount": "0.000000000001", "currency": "eur"}},
    )

    async def listed(**filters):
        page = await surface.list_events(**filters, source="user", sorting=["timestamp"])
        assert page["meta"]["total"] == len(page["data"])
        return [event["id"] for event in page["data"]]

    assert await listed(external_id=["e-1", "e-3", "e-9"]) == [ids[0], ids[2]]
    assert await listed(share_id=[share["id"]]) == ids[:1]
    assert await listed(share_id=["none"]) == await listed(share_id_not=[share["id"]]) == ids[1:]
    assert await listed(share_id_not=["none"]) == ids[:1]
    assert await listed(customer_id=["none"]) == ids
    assert await listed(customer_id_not=["none"]) == []
    assert await listed(name_not=["a", "c"]) == ids[1:2]
    shown = {event["id"]: event["share_id"] for event in (await surface.list_events(source="user"))["data"]}
    assert shown == {ids[0]: share["id"], ids[1]: None, ids[2]: None}
    assert await listed(currency=["jpy", "eur"]) == ids[1:]
    berlin = {"timezone": "Europe/Berlin"}
    assert await listed(start_date="2026-02-01", **berlin) == ids[1:]
    assert await listed(start_date="2026-01-31", end_date="2026-01-31", **berlin) == ids[:1]
    assert await listed(start_date="2026-02-01", start_timestamp="2026-02-01T00:00:00Z", **berlin) == ids[2:]
    costs = [event["cost"] for event in (await surface.list_events(sorting=["timestamp"]))["data"]]
    assert costs == [
        None,
        {"amount": "12", "currency": "jpy"},
        {"amount": "0.000000000001", "currency": "eur"},
    ]


async def test_the_total_of_a_range_of_dates_is_that_of_the_same_moments(rest):
    await ids_of(rest, *({"name": "a", "timestamp": f"2026-01-{day}T23:30:00Z"} for day in range(10, 31)))
    dates = {"start_date": "2026-01-15", "end_date": "2026-01-20", "timezone": "Europe/Berlin"}
    moments = {"start_timestamp": "2026-01-14T23:00:00Z", "end_timestamp": "2026-01-20T23:00:00Z"}
    for also in ({}, moments, {"name": ["a"]}, {"name": ["a"], **moments}):
        assert (await rest.list_events(**dates, **also))["meta"]["total"] == 6
