"""Cells equal the log, whatever folds, merges, rebuilds and writes run at the same moment."""

import asyncio
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID, uuid4

import pytest
from sqlalchemy import delete, insert, update

from storage.enums import FactKind
from storage.metrics.cells import merges
from storage.metrics.cells.cells import ACTIVITY, MONEY
from storage.metrics.definitions import Combination, Metric, UncountedMetric, Unit
from storage.metrics.facts import Fact, record_facts
from storage.metrics.measures import COST, Measure
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import PersonCellRow, PersonMergeDeltaRow
from storage.tables.metrics.metrics import PersonMergeRow
from storage.upkeep.folding import Fold
from tests.support.databases.facts import fold_all, waiting
from tests.support.databases.ledgers import rebuild_cells, verify_cells

EARLIEST = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def home(tenant):
    return UUID(tenant.id)


@pytest.fixture
def shares():
    return [uuid4() for _ in range(3)]


@pytest.fixture
def record(gateway, home, shares):
    """Record facts of every kind in one transaction, at random moments of some days."""
    random = Random(7)

    async def write(many, days=3):
        facts = [fact(random, home, shares, days) for _ in range(many)]
        async with gateway.database.write() as connection:
            await record_facts(connection, facts)

    return write


def fact(random, home, shares, days):
    kind = random.choice(list(FactKind))
    moment = EARLIEST + timedelta(seconds=random.randrange(days * 86_400))
    if kind in (FactKind.EVENT, FactKind.COST):
        money = {"currency": "usd", "amount": random.randrange(2**40), "parts": random.randrange(10**12)}
        return Fact(home, kind, moment, person=random.randint(1, 9), **money if kind is FactKind.COST else {})
    priced = kind in (FactKind.PRICED_SESSION, FactKind.PAYMENT, FactKind.REFUND)
    money = {"currency": random.choice(["usd", "eur"]), "amount": 500, "fee": 20} if priced else {}
    return Fact(home, kind, moment, random.choice(shares), bytes=random.randrange(2**50), **money)


@pytest.mark.parametrize(
    ("measure", "missing"),
    [
        (Measure(frozenset({FactKind.REFUND})), "needs the columns refund_count in ActivityCellRow"),
        (
            Measure(frozenset({FactKind.EVENT, FactKind.DOWNLOAD}), "bytes"),
            "download_bytes_high, download_bytes_low, event_bytes_high, event_bytes_low in ActivityCellRow",
        ),
        (Measure(frozenset({FactKind.DOWNLOAD}), in_currency=True), "download_count in MoneyCellRow"),
        (Measure(frozenset({FactKind.COST}), COST), "cost_parts_high, cost_parts_low in ActivityCellRow"),
    ],
    ids=["a kind", "several kinds", "a currency", "costs of all currencies"],
)
@pytest.mark.parametrize("side", ["of", "less", "per"])
def test_a_metric_whose_sums_no_cell_holds_is_refused_with_what_to_add(measure, missing, side):
    counted = Measure(frozenset({FactKind.DOWNLOAD}))
    measures = {"of": counted} | {side: measure}
    with pytest.raises(UncountedMetric, match=missing) as refused:
        Metric("refunds", Unit.COUNT, Combination.SUM, "Refunds.", **measures)
    assert str(refused.value).startswith("The metric refunds needs the columns ")
    assert "add them in storage/tables/metrics/metric_cells.py" in str(refused.value)


async def test_several_folds_beside_writers_leave_nothing_out_and_count_nothing_twice(gateway, home, record):
    folds = [Fold(gateway.database) for _ in range(3)]

    async def keep_folding(fold):
        for _ in range(20):
            await fold.run()

    await asyncio.gather(*(record(40) for _ in range(10)), *map(keep_folding, folds))
    await fold_all(gateway, home)
    cells, differences = await verify_cells(gateway.database, home)
    assert (cells > 100, differences) == (True, 0)
    assert await waiting(gateway, home) == 0


async def test_what_is_not_folded_yet_is_no_difference(gateway, home, record):
    await record(50)
    assert (await verify_cells(gateway.database, home))[1] == 0


@pytest.mark.parametrize("merged", [(1,), (1, 2)], ids=["one", "two"])
async def test_a_merge_reaches_the_bitmaps_a_few_at_a_time(gateway, home, surface, monkeypatch, merged):
    monkeypatch.setattr(merges, "QUARTERS_AT_A_TIME", 3)
    hours = [EARLIEST + timedelta(hours=n) for n in range(10)]
    events = [Fact(home, FactKind.EVENT, hour, person=person) for hour in hours for person in (1, 2, 3, 4)]
    async with gateway.database.write() as connection:
        await record_facts(connection, events)
    await fold_all(gateway, home)
    query = {"start_date": "2026-01-01", "end_date": "2026-01-03", "metrics": ["active_user_by_event"]}
    async with gateway.database.write() as connection:
        for absorbed in merged:
            row = {"workspace_id": home, "absorbed": absorbed}
            await connection.execute(insert(table_of(PersonMergeRow)).values(**row, into=3))
            await connection.execute(insert(table_of(PersonMergeDeltaRow)).values(**row))
    # The gateway folds too, maybe all of it before the first look.
    fold, seen, is_waiting = Fold(gateway.database), set(), True
    while is_waiting:
        is_waiting = await waiting(gateway, home, PersonMergeDeltaRow)
        await fold.run()
        seen.add((await surface.get_metrics(**query, interval="year"))["totals"]["active_user_by_event"])
        assert (await verify_cells(gateway.database, home))[1] == 0
    assert seen == {4 - len(merged)}


async def test_differences_are_found_and_a_rebuild_makes_them_good(gateway, home, record):
    await record(200)
    await fold_all(gateway, home)
    cells, _ = await verify_cells(gateway.database, home)
    persons = table_of(PersonCellRow)
    async with gateway.database.write() as connection:
        for table, column in ((ACTIVITY, "download_count"), (MONEY, "cost_parts_low")):
            hours = (table.c.workspace_id == home) & (table.c.grain == 86_400)
            await connection.execute(update(table).where(hours).values({column: table.c[column] + 1}))
        days = (persons.c.workspace_id == home) & (persons.c.grain == 86_400)
        await connection.execute(delete(persons).where(days))
    assert (await verify_cells(gateway.database, home))[1] > 6
    assert await rebuild_cells(gateway.database, home) == cells
    assert await verify_cells(gateway.database, home) == (cells, 0)


async def test_a_rebuild_beside_writers_and_folds_makes_the_cells_of_the_log(gateway, home, record):
    fold = Fold(gateway.database)

    async def keep_folding():
        for _ in range(30):
            await fold.run()
            await asyncio.sleep(0)

    await record(200)
    await asyncio.gather(
        *(record(30) for _ in range(8)),
        keep_folding(),
        *(rebuild_cells(gateway.database, home) for _ in range(3)),
    )
    await fold_all(gateway, home)
    assert (await verify_cells(gateway.database, home))[1] == 0
