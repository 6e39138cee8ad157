"""What dashboards need: order, names, what is not over yet, and a range to compare with."""

from datetime import timedelta

import pytest

from storage.clock import now
from tests.metrics.test_reading import JANUARY, ask_graphql, graphql, measured
from tests.support.callers.surfaces import Refused, Rest

__all__ = ["graphql", "measured"]

UNASKED = [
    "periods { fileShareRevenue }",
    "totals { fileShareRevenue }",
    "periods { ... on MetricPeriod { again: fileShareRevenue } }",
    "comparison { periods { fileShareRevenue } }",
    "comparison { totals { fileShareRevenue } }",
]


@pytest.mark.parametrize("fields", UNASKED)
async def test_selecting_a_metric_that_is_not_asked_for_is_an_error_that_names_the_field(
    gateway, measured, fields
):
    body = await ask_graphql(gateway, measured, fields, "metrics: [CASHFLOW], compare: PREVIOUS")
    (error,) = body["errors"]
    (entry,) = error["extensions"]["detail"]
    assert (entry["loc"], entry["type"]) == (["metrics"], "metric_not_requested")
    assert "`fileShareRevenue`" in entry["msg"]
    assert body["data"] == {"metrics": None}


@pytest.mark.parametrize("left_out", ["@skip(if: true)", "@include(if: false)"])
async def test_a_directive_leaves_out_a_metric_that_is_not_asked_for(graphql, left_out):
    fields = f"totals {{ cashflow fileShareRevenue {left_out} ... {left_out} {{ costs }} }}"
    assert await graphql(fields, "metrics: [CASHFLOW]") == {"totals": {"cashflow": 1494.5}}


async def test_metrics_come_in_the_order_asked_each_once(gateway, graphql, measured):
    asked = ["file_share_revenue", "costs", "cashflow", "costs"]
    found = await graphql(
        "series { slug } metrics { slug }", f"metrics: [{', '.join(slug.upper() for slug in asked)}]"
    )
    slugs = [entry["slug"] for entry in found["series"]]
    assert slugs == [entry["slug"] for entry in found["metrics"]] == [slug.upper() for slug in asked[:3]]
    answer = await Rest(gateway.client, gateway.app, measured.token).get_metrics(**JANUARY, metrics=asked)
    assert list(answer["metrics"]) == asked[:3]
    assert list(answer["periods"][0])[2:] == asked[:3]


async def test_a_currency_of_null_gives_a_group_for_each_of_two_currencies(gateway, measured):
    fields = "groups { key currency exponent totals { fileShareRevenue } }"
    body = await ask_graphql(gateway, measured, fields, "metrics: [FILE_SHARE_REVENUE], currency: null")
    assert body["data"]["metrics"]["groups"] == [
        {"key": "eur", "currency": "EUR", "exponent": 2, "totals": {"fileShareRevenue": 700}},
        {"key": "usd", "currency": "USD", "exponent": 2, "totals": {"fileShareRevenue": 1500}},
    ]


@pytest.mark.parametrize(("currency", "exponent"), [("usd", 2), ("jpy", 0)])
async def test_metrics_have_names_for_people_and_money_the_exponent_of_its_currency(
    surface, measured, currency, exponent
):
    asked = ["file_share_avg_price", "active_user_by_event", "file_share_total_size_bytes"]
    answer = await surface.get_metrics(**JANUARY, metrics=asked, currency=currency)
    described = answer["metrics"]
    entries = described if isinstance(described, list) else list(described.values())
    assert [(entry["display_name"], entry["exponent"]) for entry in entries] == [
        ("Average price", exponent),
        ("Active users", None),
        ("Total file size", None),
    ]


async def test_a_period_that_is_not_over_is_not_complete(surface, tenant, monkeypatch):
    moment = now()
    # At midnight another day would be over.
    monkeypatch.setattr("resolvers.metrics.answers.now", lambda: moment)
    today = moment.date()
    dates = {"start_date": str(today - timedelta(days=1)), "end_date": str(today + timedelta(days=1))}
    answer = await surface.get_metrics(**dates, interval="day")
    assert [period["is_complete"] for period in answer["periods"]][::2] == [True, False]
    month = await surface.get_metrics(
        start_date=str(today), end_date=str(today + timedelta(days=1)), interval="year"
    )
    assert [period["is_complete"] for period in month["periods"]][-1] is False


COMPARED = [
    ("2026-01-05", "2026-01-05", "previous", ("2026-01-04", "2026-01-04")),
    ("2026-01-05", "2026-01-31", "previous", ("2025-12-09", "2026-01-04")),
    ("2026-01-01", "2026-01-05", "previous_month", ("2025-12-01", "2025-12-05")),
    ("2024-03-01", "2024-03-31", "previous_month", ("2024-02-01", "2024-02-29")),
    ("2026-03-30", "2026-05-31", "previous_month", ("2026-02-28", "2026-04-30")),
    ("2026-01-05", "2026-01-31", "previous_year", ("2025-01-05", "2025-01-31")),
    ("2024-02-29", "2024-02-29", "previous_year", ("2023-02-28", "2023-02-28")),
    ("2024-02-28", "2024-02-29", "previous_year", ("2023-02-28", "2023-02-28")),
    ("2025-02-28", "2025-03-01", "previous_year", ("2024-02-28", "2024-03-01")),
]


@pytest.mark.parametrize(("start", "end", "compare", "dates"), COMPARED)
async def test_a_range_is_compared_with_the_one_before_or_the_same_dates_before(
    surface, measured, start, end, compare, dates
):
    asked = {"start_date": start, "end_date": end, "interval": "day", "compare": compare}
    comparison = (await surface.get_metrics(**asked))["comparison"]
    assert (comparison["start_date"], comparison["end_date"]) == dates
    shown = [period["timestamp"][:10] for period in comparison["periods"]]
    assert (shown[0], shown[-1]) == dates


async def test_a_comparison_is_what_its_range_alone_would_answer(surface, measured):
    february = {"start_date": "2026-02-01", "end_date": "2026-03-03", "interval": "week"}
    compared = await surface.get_metrics(**february, compare="previous")
    alone = await surface.get_metrics(start_date="2026-01-01", end_date="2026-01-31", interval="week")
    assert compared["comparison"]["periods"] == alone["periods"]
    assert compared["comparison"]["totals"] == alone["totals"]
    assert (await surface.get_metrics(**february))["comparison"] is None


async def test_a_compared_range_that_begins_too_early_is_refused(surface):
    dates = {"start_date": "1973-01-01", "end_date": "1973-01-02", "interval": "day"}
    with pytest.raises(Refused) as refused:
        await surface.get_metrics(**dates, compare="previous_year")
    (entry,) = refused.value.detail
    assert entry["loc"] == ["compare"]
    assert "1973" in entry["msg"]
