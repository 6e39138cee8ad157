"""What events cost and when they happened, as it is measured: over both surfaces, on both databases."""

from uuid import UUID

import pytest

from tests.support.callers.refusals import refusal
from tests.support.databases.facts import read_facts
from tests.support.servers.gateways import bearer


async def ingest(surface, *events):
    return await surface.ingest_events(data={"events": list(events)})


@pytest.mark.parametrize(
    ("amount", "whole", "parts"),
    [
        (0, 0, 0),
        (0.1, 0, 100_000_000_000),
        ("0.1", 0, 100_000_000_000),
        (1e-12, 0, 1),
        (12.5, 12, 500_000_000_000),
        (2.0, 2, 0),
        ("999999999999.999999999999", 999_999_999_999, 999_999_999_999),
        (999_999_999_999, 999_999_999_999, 0),
    ],
)
async def test_costs_are_exact(surface, gateway, tenant, amount, whole, parts):
    await ingest(surface, {"name": "a", "cost": {"amount": amount, "currency": "jpy"}})
    (fact,) = await read_facts(gateway, tenant, "cost")
    assert (fact["amount"], fact["parts"], fact["currency"]) == (whole, parts, "jpy")


@pytest.mark.parametrize(
    ("amount", "kind"),
    [
        (-1, "greater_than_equal"),
        ("-0.1", "greater_than_equal"),
        (10**12, "decimal_whole_digits"),
        ("1000000000000", "decimal_whole_digits"),
        (1e300, "decimal_whole_digits"),
        (1e-13, "decimal_max_places"),
        ("0.0000000000001", "decimal_max_places"),
        ("1e3", "decimal_parsing"),
        ("", "decimal_parsing"),
        ("NaN", "decimal_parsing"),
        (True, "decimal_type"),
        ([], "decimal_type"),
        ("1" * 5000, "decimal_parsing"),
    ],
)
async def test_bad_costs_are_refused(surface, amount, kind):
    assert await refusal(ingest(surface, {"name": "a", "cost": {"amount": amount, "currency": "usd"}})) == {
        ("events", 0, "cost", "amount"): kind
    }


async def test_a_cost_beyond_all_doubles_is_refused(gateway, graphql, tenant):
    sent = b'{"events": [{"name": "a", "cost": {"amount": 1e400, "currency": "usd"}}]}'
    answer = await gateway.client.post("/api/events/ingest", content=sent, headers=bearer(tenant.token))
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["type"]) == (422, "finite_number")
    assert problem["loc"] == ["body", "events", 0, "cost", "amount"]
    event = '{name: "a", cost: {amount: 1e400, currency: USD}}'
    told = await graphql(f"mutation {{ ingestEvents(data: {{events: [{event}]}}) {{ inserted }} }}")
    assert told["data"] == {"ingestEvents": None}
    (error,) = told["errors"]
    assert error["extensions"]["detail"][0]["type"] == "finite_number"


async def test_an_event_is_measured_at_its_own_moment(surface, gateway, tenant):
    share = await surface.create_share(data={"name": "Report", "prices": [{"amount_type": "free"}]})
    about = {"external_customer_id": "c-1", "share_id": share["id"], "timestamp": "2020-02-29T12:00:00Z"}
    await ingest(surface, {"name": "a", **about, "cost": {"amount": 2, "currency": "eur"}}, {"name": "b"})
    seen, nobody = await read_facts(gateway, tenant, "event")
    (cost,) = await read_facts(gateway, tenant, "cost")
    assert seen["moment"] == cost["moment"] == 1_582_977_600_000_000
    assert seen["share_id"] == cost["share_id"] == UUID(share["id"])
    assert seen["person"] == cost["person"] is not None
    assert nobody["person"] is None


async def test_a_cost_in_a_graphql_document_is_as_exact_as_in_a_variable(gateway, graphql, tenant):
    document = """mutation { ingestEvents(data: {events: [
        {name: "a", timestamp: "2026-01-01T00:00:00Z", cost: {amount: 0.1, currency: USD}},
        {name: "b", timestamp: "2026-01-01T00:00:01Z", cost: {amount: "0.1", currency: USD}},
        {name: "c", timestamp: "2026-01-01T00:00:02Z", cost: {amount: 3, currency: USD}}
    ]}) { inserted } }"""
    assert await graphql(document) == {"data": {"ingestEvents": {"inserted": 3}}}
    facts = await read_facts(gateway, tenant, "cost")
    tenth = (0, 100_000_000_000)
    assert [(fact["amount"], fact["parts"]) for fact in facts] == [tenth, tenth, (3, 0)]
