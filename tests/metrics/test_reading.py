"""Requests for metrics and their answers: invalid input, selections, series, limits and CSV."""

import csv
from collections import Counter
from datetime import UTC, datetime
from io import StringIO
from re import findall
from uuid import UUID

import pytest
import pytest_asyncio

from storage.enums import FactKind
from storage.metrics.definitions import BY_SLUG
from storage.metrics.facts import Fact, record_facts
from tests.support.callers.surfaces import Refused
from tests.support.databases.facts import fold_all
from tests.support.statements.statements import noted

JANUARY = {"start_date": "2026-01-01", "end_date": "2026-01-31", "interval": "day"}
MORNING = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
# More than 2^53 and more than 2^63 in sum.
HUGE = [2**53 - 1] * 1025


@pytest_asyncio.fixture
async def measured(gateway, tenant):
    """A workspace with some activity of every kind on the morning of 5 January."""
    home = UUID(tenant.id)
    half = {"amount": 5, "parts": 5 * 10**11}
    facts = [
        Fact(home, FactKind.FREE_SESSION, MORNING, bytes=4096),
        Fact(home, FactKind.DOWNLOAD, MORNING),
        Fact(home, FactKind.PAYMENT, MORNING, currency="usd", amount=1500, fee=60),
        Fact(home, FactKind.PAYMENT, MORNING, currency="eur", amount=700, fee=30),
        Fact(home, FactKind.EVENT, MORNING, person=1),
        Fact(home, FactKind.COST, MORNING, person=1, currency="usd", **half),
    ]
    async with gateway.database.write() as connection:
        await record_facts(connection, facts)
    return tenant


@pytest.fixture
def graphql(gateway, measured):
    """Send a GraphQL document and return its `metrics`."""

    async def ask(fields, arguments="", interval="DAY"):
        return (await ask_graphql(gateway, measured, fields, arguments, interval))["data"]["metrics"]

    return ask


async def ask_graphql(gateway, measured, fields, arguments, interval="DAY"):
    dates = f'startDate: "2026-01-01", endDate: "2026-01-31", interval: {interval}'
    answer = await gateway.client.post(
        "/graphql",
        json={"query": f"{{ metrics({dates} {arguments}) {{ {fields} }} }}"},
        headers={"Authorization": f"Bearer {measured.token}"},
    )
    return answer.json()


@pytest.mark.parametrize(
    ("changed", "place", "said"),
    [
        ({"start_date": "2026-02-01"}, "end_date", "2026-02-01"),
        ({"start_date": "1972-12-31"}, "start_date", "1973 to 2200"),
        ({"end_date": "2201-01-01"}, "end_date", "1973 to 2200"),
        ({"end_date": "2053-06-01"}, "interval", "10000"),
        ({"interval": "hour", "end_date": "2027-03-01"}, "interval", "10000"),
        ({"start_date": "2026-02-30"}, "start_date", "date"),
        ({"start_date": "1767225600"}, "start_date", "date"),
        ({"end_date": "2026-01-31T00:00:00"}, "end_date", "date"),
        ({"timezone": "Mars/Olympus"}, "timezone", "IANA"),
        ({"timezone": "europe/berlin"}, "timezone", "IANA"),
        ({"timezone": ""}, "timezone", "at least 1"),
        ({"interval": "decade"}, "interval", "year"),
        ({"currency": "xxx"}, "currency", "usd"),
    ],
)
async def test_bad_input_is_named_with_its_bound(surface, changed, place, said):
    with pytest.raises(Refused) as refused:
        await surface.get_metrics(**{**JANUARY, **changed})
    (entry,) = refused.value.detail
    assert (refused.value.status, entry["loc"]) == (422, [place])
    # GraphQL writes the values of an enum by their names.
    assert said.lower() in entry["msg"].lower()


async def test_unknown_slugs_are_named(surface):
    with pytest.raises(Refused) as refused:
        await surface.get_metrics(**JANUARY, metrics=["costs", "churn"])
    (entry,) = refused.value.detail
    assert (entry["loc"], entry["input"]) == (["metrics", 1], "churn")


@pytest.mark.parametrize("name", ["workspace_id", "share_id", "customer_id"])
async def test_an_id_that_is_none_is_refused(surface, name):
    with pytest.raises(Refused) as refused:
        await surface.get_metrics(**JANUARY, **{name: ["7"]})
    assert list(refused.value.problems) == [(name, 0)]


async def test_dates_and_interval_are_required(surface):
    with pytest.raises(Refused) as refused:
        await surface.get_metrics()
    assert set(refused.value.problems) == {("start_date",), ("end_date",), ("interval",)}


async def test_every_problem_is_reported_at_once(surface):
    with pytest.raises(Refused) as refused:
        await surface.get_metrics(start_date="1900-01-01", end_date="x", interval="day", timezone="x")
    assert set(refused.value.problems) == {("start_date",), ("end_date",), ("timezone",)}


async def test_a_foreign_workspace_is_not_found_and_its_metrics_stay_secret(caller, measured, other_tenant):
    with pytest.raises(Refused) as refused:
        await caller(other_tenant.token).get_metrics(**JANUARY, workspace_id=[measured.id])
    assert (refused.value.status, refused.value.code) == (404, "not_found")
    seen = await caller(other_tenant.token).get_metrics(**JANUARY)
    assert not any(seen["totals"].values())
    assert seen["other_currencies"] == []


@pytest.mark.parametrize("name", ["share_id", "customer_id"])
async def test_an_unknown_share_or_customer_matches_nothing(surface, measured, name):
    answer = await surface.get_metrics(**JANUARY, **{name: ["00000000-0000-4000-8000-000000000000"]})
    assert not any(answer["totals"].values())


async def test_only_the_metrics_that_were_asked_for_are_answered(surface, measured):
    answer = await surface.get_metrics(**JANUARY, metrics=["cashflow", "costs"])
    assert answer["totals"] == {"costs": 5.5, "cashflow": 1494.5}
    described = {"timestamp": "2026-01-05T00:00:00.000000+00:00", "is_complete": True}
    assert answer["periods"][4] == described | answer["totals"]


async def test_money_in_other_currencies_is_not_hidden(surface, measured):
    answer = await surface.get_metrics(**JANUARY, currency="eur")
    assert answer["totals"]["file_share_revenue"] == 700
    usd = {"file_share_revenue": 1500, "file_share_platform_fees": 60, "costs": 5.5}
    assert answer["other_currencies"] == [{"currency": "usd", "exponent": 2, **usd}]


async def test_sums_beyond_what_json_readers_hold_are_nearest_doubles(gateway, surface, tenant):
    facts = [Fact(UUID(tenant.id), FactKind.FREE_SESSION, MORNING, bytes=size) for size in HUGE]
    async with gateway.database.write() as connection:
        await record_facts(connection, facts)
    answer = await surface.get_metrics(**JANUARY, metrics=["file_share_total_size_bytes"])
    assert answer["totals"]["file_share_total_size_bytes"] == float(sum(HUGE))
    assert sum(HUGE) > 2**63


async def test_series_are_the_periods_column_by_column(graphql):
    found = await graphql(
        "timestamps series { slug values total } periods { timestamp costs fileShareSessions }",
        "metrics: [COSTS, FILE_SHARE_SESSIONS]",
    )
    assert found["timestamps"] == [period["timestamp"] for period in found["periods"]]
    costs, sessions = found["series"]
    assert (costs["slug"], costs["total"], sessions["total"]) == ("COSTS", 5.5, 1)
    assert costs["values"] == [period["costs"] for period in found["periods"]]
    assert sessions["values"] == [period["fileShareSessions"] for period in found["periods"]]


async def test_series_alone_hold_every_metric(graphql):
    found = await graphql("series { slug values }", interval="MONTH")
    assert [entry["slug"].lower() for entry in found["series"]] == list(BY_SLUG)
    assert all(len(entry["values"]) == 1 for entry in found["series"])


async def test_only_what_is_selected_is_read(gateway, graphql, measured):
    await fold_all(gateway, UUID(measured.id))

    async def statements_for(fields):
        with noted(gateway.database) as statements:
            await graphql(fields)
        read = Counter(name for text in statements for name in set(findall(r"metric_(\w+)", text)))
        return {name: read[name] for name in ("activity_cells", "money_cells", "person_cells") if read[name]}

    assert await statements_for("currency timestamps metrics { slug }") == {}
    assert await statements_for("totals { costs }") == {"money_cells": 1}
    assert await statements_for("periods { ... on MetricPeriod { cashflow fileShareSessions } }") == {
        "activity_cells": 1,
        "money_cells": 1,
    }
    assert await statements_for("totals { activeUserByEvent }") == {"person_cells": 1}
    assert await statements_for("totals { fileShareActiveSessions }") == {"activity_cells": 1}
    assert await statements_for("series { slug } otherCurrencies { currency }") == {
        "activity_cells": 1,
        "money_cells": 1,
        "person_cells": 1,
    }


@pytest.mark.parametrize("token", ["token", "personal_token"])
async def test_cells_of_one_workspace_are_read_by_one_statement(gateway, caller, measured, token):
    asked = {**JANUARY, "compare": "previous", "currency": "usd"}
    waiting = await caller(getattr(measured, token)).get_metrics(**asked)
    await fold_all(gateway, UUID(measured.id))
    with noted(gateway.database) as statements:
        folded = await caller(getattr(measured, token)).get_metrics(**asked)
    (statement,) = [each for each in statements if not each.startswith("SELECT credentials")]
    assert "metric_money_cells" in statement
    assert folded == waiting
    assert folded["totals"]["file_share_downloads"] == folded["totals"]["active_user_by_event"] == 1


async def test_a_user_sees_the_metrics_of_all_workspaces_and_of_each(gateway, caller, measured):
    mine = caller(measured.personal_token)
    other = (await mine.create_workspace(data={"name": "Other", "slug": f"{measured.slug}-2"}))["id"]
    async with gateway.database.write() as connection:
        await record_facts(connection, [Fact(UUID(other), FactKind.DOWNLOAD, MORNING)] * 2)
    downloads = {}
    for ids in (None, (measured.id,), (other,), (measured.id, other)):
        filters = {} if ids is None else {"workspace_id": list(ids)}
        answers = []
        for id in (measured.id, other):
            answers.append(await mine.get_metrics(**JANUARY, **filters))
            await fold_all(gateway, UUID(id))
        answers.append(await mine.get_metrics(**JANUARY, **filters))
        assert answers[1:] == answers[:-1]
        downloads[ids] = answers[0]["totals"]["file_share_downloads"]
    assert list(downloads.values()) == [3, 1, 2, 3]


async def test_the_limits_are_those_that_hold(surface):
    limits = await surface.get_metrics_limits()
    zones = limits.pop("timezones")
    assert {"UTC", "Asia/Calcutta", "localtime"} <= set(zones)
    assert limits == {
        "min_date": "1973-01-01",
        "max_date": "2200-12-31",
        "max_periods": 10_000,
        "intervals": ["year", "quarter", "month", "week", "day", "hour"],
    }


async def test_the_export_is_the_same_answer_as_a_table(gateway, measured):
    query = {**JANUARY, "metrics": ["file_share_revenue", "cashflow"]}
    headers = {"Authorization": f"Bearer {measured.token}"}
    answer = await gateway.client.get("/api/metrics/export", params=query, headers=headers)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    head, *rows = csv.reader(StringIO(answer.text))
    assert head == ["timestamp", "currency", "file_share_revenue", "cashflow"]
    assert len(rows) == 31 + 2
    assert rows[4] == ["2026-01-05T00:00:00.000000+00:00", "usd", "1500", "1494.5"]
    assert rows[-2:] == [["totals", "usd", "1500", "1494.5"], ["totals", "eur", "700", ""]]


@pytest.mark.parametrize(
    ("query", "token", "status"),
    [({}, "token", 422), (JANUARY, None, 401), ({**JANUARY, "timezone": "x"}, "token", 422)],
)
async def test_the_export_is_refused_as_the_read_is(gateway, tenant, query, token, status):
    headers = {"Authorization": f"Bearer {tenant.token}"} if token else {}
    answer = await gateway.client.get("/api/metrics/export", params=query, headers=headers)
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "detail"}


async def test_a_range_has_the_events_at_its_first_moment_and_not_those_at_its_end(gateway, surface, tenant):
    share = await surface.create_share(data={"name": "Poster", "prices": [{"amount_type": "free"}]})
    edges = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))
    facts = [
        Fact(UUID(tenant.id), FactKind.EVENT, moment, share_id=UUID(share["id"]), person=person)
        for person, moment in enumerate(edges, 1)
    ]
    async with gateway.database.write() as connection:
        await record_facts(connection, facts)
    answer = await surface.get_metrics(**JANUARY, metrics=["active_user_by_event"], group_by="share")
    for shown in (answer, *answer["groups"]):
        assert [period["active_user_by_event"] for period in shown["periods"]] == [1, *[0] * 30]
        assert shown["totals"]["active_user_by_event"] == 1
    assert [group["label"] for group in answer["groups"]] == ["Poster"]
