"""Every metric against a plain count of random histories: any range, interval, zone and filter."""

import json
import sys
from datetime import UTC, date, datetime, timedelta
from random import Random
from uuid import UUID

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.enums import FactKind
from storage.metrics.cells import period_sql
from storage.metrics.cells.period_sql import MOST_RUNS, runs
from storage.metrics.definitions import BY_SLUG
from storage.metrics.facts import Fact, record_facts
from storage.metrics.periods import Interval, make_timeline
from tests.metrics.telling import expected, filters_of, forget_events, make_history, make_home, tell, view_of
from tests.metrics.test_periods import ranges
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.measures.cases import cases


@pytest_asyncio.fixture(scope="session")
async def home(gateway):
    home = await make_home(gateway)
    yield home
    await forget_events(gateway, home)


@pytest.mark.long
@pytest.mark.parametrize("most_runs", [MOST_RUNS, 0], ids=["by period", "by cell"], indirect=True)
@pytest.mark.usefixtures("most_runs")
# Of two ways of grouping on two databases.
@settings(max_examples=cases(15, 4), derandomize=True, suppress_health_check=list(HealthCheck))
@given(asked=ranges(), seed=st.integers(0, 2**32))
async def test_every_metric_is_what_a_plain_count_says(gateway, home, asked, seed):
    await check_metrics(gateway, home, asked, seed)


async def test_every_metric_of_seventeen_years_by_month_is_what_a_plain_count_says(gateway, home):
    zone, start, end, interval = asked = ("Europe/Berlin", date(2008, 5, 3), date(2025, 6, 1), "month")
    assert len(runs(tuple(make_timeline(start, end, Interval(interval), zone).edges))) > MOST_RUNS
    await check_metrics(gateway, home, asked, seed=7)


async def check_metrics(gateway, home, asked, seed):
    """Compare three random queries about a random history with the reference."""
    zone, start, end, interval = asked
    random = Random(seed)
    history = make_history(random, home, asked)
    await tell(gateway, home, history, random)
    for _ in range(3):
        filters = filters_of(random, home)
        query = {
            "start_date": start.isoformat(),
            "end_date": end.isoformat(),
            "interval": interval,
            "timezone": zone,
            **filters,
        }
        slugs = list(filters.get("metrics", BY_SLUG))
        wanted = expected(view_of(history, home, filters), asked, slugs, filters.get("compare"))
        for surface in (Rest, GraphQL):
            answer = await surface(gateway.client, gateway.app, home.token).get_metrics(**query)
            described = answer.pop("metrics")
            # `tests/file_shares/test_group_lineage.py` follows them.
            for part in filter(None, (answer, answer["comparison"])):
                del part["rows"]
            # As texts: 1 is not 1.0 here, whole metrics are integers.
            assert json.dumps(answer, sort_keys=True) == json.dumps(wanted, sort_keys=True), surface.name
            assert [entry["slug"] for entry in listed(described)] == slugs


@pytest.fixture
def most_runs(request, monkeypatch):
    """Let the database group by periods up to this many runs, also in statements that are cached already."""
    monkeypatch.setattr(period_sql, "MOST_RUNS", request.param)
    forget_statements()
    yield
    monkeypatch.undo()
    forget_statements()


def forget_statements():
    for name, module in sys.modules.items():
        if name.startswith("storage.metrics."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def listed(described):
    """The descriptions of the metrics, a map over REST and a list over GraphQL."""
    return list(described.values()) if isinstance(described, dict) else described


@settings(max_examples=cases(15, 2), derandomize=True, suppress_health_check=list(HealthCheck))
@given(asked=ranges(), seed=st.integers(0, 2**32))
async def test_totals_are_the_range_asked_as_one_period(gateway, home, asked, seed):
    zone, start, end, interval = asked
    random = Random(seed)
    await tell(gateway, home, make_history(random, home, asked), random)
    rest = Rest(gateway.client, gateway.app, home.token)
    last = min(end, start.replace(month=12, day=31))
    dates = {"start_date": start.isoformat(), "end_date": last.isoformat(), "timezone": zone}
    answer = await rest.get_metrics(**dates, interval=interval)
    periods = (await rest.get_metrics(**dates, interval="year"))["periods"]
    if answer["periods"]:
        (whole,) = periods
        del whole["timestamp"], whole["is_complete"]
        assert whole == answer["totals"]
    else:
        assert periods == []


@pytest.mark.parametrize("most_runs", [MOST_RUNS, 0], ids=["by period", "by cell"], indirect=True)
@pytest.mark.usefixtures("most_runs")
async def test_a_bound_within_a_quarter_hour_separates_the_facts_on_both_sides(surface, gateway, tenant):
    """St. John's set clocks back from 00:01 to 23:01 of the previous day, at 02:31 UTC."""
    moments = [datetime(2010, 11, 7, 2, 30, 59, 999_999, UTC), datetime(2010, 11, 7, 2, 31, tzinfo=UTC)]
    facts = [
        Fact(UUID(tenant.id), kind, moment, person=number)
        for number, moment in enumerate([*moments, moments[1] + timedelta(minutes=13)])
        for kind in (FactKind.DOWNLOAD, FactKind.EVENT)
    ]
    async with gateway.database.write() as connection:
        await record_facts(connection, facts)
    day = {"start_date": "2010-11-07", "end_date": "2010-11-07", "timezone": "America/St_Johns"}
    asked = ["file_share_downloads", "active_user_by_event"]
    first, second, *_ = (await surface.get_metrics(**day, interval="hour", metrics=asked))["periods"]
    assert (first["timestamp"][11:16], second["timestamp"][11:16]) == ("00:00", "23:01")
    assert [(hour["file_share_downloads"], hour["active_user_by_event"]) for hour in (first, second)] == [
        (1, 1),
        (2, 2),
    ]
