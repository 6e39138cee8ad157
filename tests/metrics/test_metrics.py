"""Every metric against a plain count of random histories: any range, interval, zone and filter."""

import json
import os
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from resolvers.accounts.users import find_user
from resolvers.workspaces.administration import insert_workspace
from storage.enums import FactKind
from storage.metrics.cells import period_sql
from storage.metrics.cells.fold import fold_deltas
from storage.metrics.cells.merges import fold_merge
from storage.metrics.cells.period_sql import MOST_RUNS, runs
from storage.metrics.definitions import BY_SLUG
from storage.metrics.facts import Fact, record_facts
from storage.metrics.periods import Interval, make_timeline
from storage.rows import insert_rows, table_of
from storage.tables.customers import CustomerRow
from storage.tables.metric_cells import (
    ActivityCellRow,
    MetricDeltaRow,
    MoneyCellRow,
    PersonCellRow,
    PersonMergeDeltaRow,
)
from storage.tables.metrics import MetricFactRow, PersonMergeRow
from storage.workspace_lock import lock_workspace
from tests.metrics import reference
from tests.metrics.histories import CURRENCIES, Teller, facts_of
from tests.metrics.test_periods import ranges
from tests.support.gateways import make_tenant
from tests.support.refusals import UNKNOWN_ID
from tests.support.surfaces import GraphQL, Rest

EXAMPLES = int(os.environ.get("EXAMPLES", "15"))
KEPT = (
    MetricFactRow,
    MetricDeltaRow,
    PersonMergeRow,
    PersonMergeDeltaRow,
    ActivityCellRow,
    MoneyCellRow,
    PersonCellRow,
)
# How far from the middle of its range a history reaches, in days.
REACH = {"hour": 5, "day": 15, "week": 60, "month": 200, "year": 900}


@dataclass(frozen=True)
class Home:
    """Two workspaces of one user, with different currencies; `customers` maps ids to workspace and person."""

    token: str
    currencies: dict[UUID, str]
    shares: list[UUID]
    customers: dict[UUID, tuple[UUID, int | None]]


@pytest_asyncio.fixture(scope="session")
async def home(gateway):
    tenant = await make_tenant(gateway, default_presentment_currency="eur")
    other = {"name": "Other", "slug": f"w-{uuid4().hex}", "default_presentment_currency": "jpy"}
    async with gateway.database.write() as connection:
        owner = await find_user(connection, tenant.user_email)
        second = await insert_workspace(connection, owner, **other)
        workspaces = {UUID(tenant.id): "eur", second.id: "jpy"}
        rows = [
            {"workspace_id": workspace, "email": f"{person}@example.com", "person": person}
            for workspace in workspaces
            for person in (None, 1, 2, 5)
        ]
        made = await insert_rows(connection, CustomerRow, rows)
    customers = {row.id: (row.workspace_id, row.person) for row in made}
    return Home(tenant.personal_token, workspaces, [uuid4(), uuid4()], customers)


async def tell(gateway, home, history, random):
    """Replace the log of the workspaces by this history, and fold some or all of it."""
    merges = [
        {"workspace_id": workspace, "absorbed": absorbed, "into": into}
        for (workspace, absorbed), into in history.merges.items()
    ]
    facts = list(facts_of(history))
    random.shuffle(facts)
    early = random.choice([0, len(facts) // 2, len(facts)])
    async with gateway.database.write() as connection:
        for workspace in sorted(home.currencies):
            await lock_workspace(connection, workspace, wait=True)
        for model in KEPT:
            table = table_of(model)
            await connection.execute(delete(table).where(table.c.workspace_id.in_(home.currencies)))
        await record_facts(connection, facts[:early])
    await fold_some(gateway, home, random)
    async with gateway.database.write() as connection:
        await insert_rows(connection, PersonMergeRow, merges)
        await insert_rows(connection, PersonMergeDeltaRow, [merge_delta_of(merge) for merge in merges])
        await record_facts(connection, facts[early:])
    await fold_some(gateway, home, random)


def merge_delta_of(merge):
    return {"workspace_id": merge["workspace_id"], "absorbed": merge["absorbed"]}


async def fold_some(gateway, home, random):
    """Fold nothing, a part or everything, while the gateway may fold too."""
    for workspace in home.currencies:
        async with gateway.database.write() as connection:
            await lock_workspace(connection, workspace, wait=True)
            await fold_deltas(connection, workspace, random.choice([0, 20, 10_000]))
            if random.random() < 0.5:
                await fold_merge(connection, workspace)


def make_history(random, home, asked):
    zone, start, end, interval = asked
    bounds = [until for _, _, until in reference.periods(zone, start, end, interval)]
    middle = start + (end - start) / 2
    reach = max(REACH[interval], (end - start).days // 2)
    return Teller(random, middle, reach, list(home.currencies), home.shares, bounds).history()


def filters_of(random, home):
    """Random filters, with one or two values, existing or not."""
    found = {}
    pools = {
        "workspace_id": list(home.currencies),
        "share_id": [*home.shares, UNKNOWN_ID],
        "customer_id": [*home.customers, UNKNOWN_ID],
    }
    for name, pool in pools.items():
        if random.random() < 0.4:
            found[name] = [str(id) for id in random.sample(pool, random.randint(1, 2))]
    if random.random() < 0.5:
        found["metrics"] = random.sample(list(BY_SLUG), random.randint(1, 5))
    if random.random() < 0.6:
        found["currency"] = random.choice(CURRENCIES)
    return found


def view_of(history, home, filters):
    """The reference's view of the filters."""
    workspaces = {UUID(id) for id in filters.get("workspace_id", ())} or set(home.currencies)
    shared = {home.currencies[workspace] for workspace in workspaces}
    currency = filters.get("currency") or (shared.pop() if len(shared) == 1 else "usd")
    shares = persons = None
    if "share_id" in filters:
        shares = {UUID(id) for id in filters["share_id"]}
    if "customer_id" in filters:
        named = [home.customers.get(UUID(id)) for id in filters["customer_id"]]
        known = [person for person in named if person is not None and person[1] is not None]
        persons = {(workspace, history.merges.get((workspace, n), n)) for workspace, n in known}
    return reference.View(history, workspaces, shares, persons, currency)


def expected(view, asked, slugs):
    zone, start, end, interval = asked
    found = reference.periods(zone, start, end, interval)
    begins = reference.first_instant(zone, start)
    ends = reference.first_instant(zone, end + timedelta(days=1))
    periods = []
    for stamp, since, until in found:
        values = reference.values(view, since, until, begins)
        periods.append({"timestamp": stamp} | {slug: values[slug] for slug in slugs})
    totals = reference.values(view, begins, ends, begins)
    return {
        "periods": periods,
        "totals": {slug: totals[slug] for slug in slugs},
        "currency": view.currency,
        "other_currencies": view.others(begins, ends),
    }


@pytest.mark.parametrize("most_runs", [MOST_RUNS, 0], ids=["by period", "by cell"], indirect=True)
@pytest.mark.usefixtures("most_runs")
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
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
        slugs = [slug for slug in BY_SLUG if slug in filters.get("metrics", BY_SLUG)]
        wanted = expected(view_of(history, home, filters), asked, slugs)
        for surface in (Rest, GraphQL):
            answer = await surface(gateway.client, gateway.app, home.token).get_metrics(**query)
            described = answer.pop("metrics")
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


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
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
        assert whole == answer["totals"] | {"timestamp": whole["timestamp"]}
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
