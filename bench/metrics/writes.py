"""The speed of recording facts, compared with plain inserts into the log, and of folding them."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from random import Random
from statistics import median
from time import perf_counter
from uuid import uuid4

from bench.kit.servers import fold_all
from bench.metrics.activity import CUSTOMERS
from bench.metrics.loading import SHARE_IDS, WORKSPACE_ID
from gateway.background.tasks import BackgroundTask, running
from storage.engine.connections import Connection, SqliteThread
from storage.engine.database import Database
from storage.engine.inserts import insert_all, insert_late
from storage.enums import FactKind
from storage.metrics.facts import Fact, record_facts, row_of
from storage.tables.base import table_of
from storage.tables.metrics.metrics import MetricFactRow
from storage.upkeep.folding import SECONDS_BETWEEN_SWEEPS, Fold

WRITERS = 8
LIVE, BATCHES, BATCH = 2_000, 16, 500
BACK_FILL_DAYS = 730
# The facts of a session and its event, in a realistic mix.
KINDS = (
    FactKind.FREE_SESSION,
    FactKind.DOWNLOAD,
    FactKind.ACTIVATION,
    FactKind.EVENT,
    FactKind.COST,
    FactKind.COMPLETION,
    FactKind.DEACTIVATION,
)
_table = table_of(MetricFactRow)

Write = Callable[[Connection, Sequence[Fact]], Awaitable[None]]


@dataclass(frozen=True)
class WriteFigures:
    """Medians by what was written: facts per second, and the slowest write in milliseconds."""

    dialect: str
    rates: dict[str, float]
    slowest: dict[str, float]


async def insert_alone(connection: Connection, facts: Sequence[Fact]) -> None:
    """Insert facts into the log the way `record_facts` does, but without their deltas.

    One statement on PostgreSQL; on SQLite, in the hop of the COMMIT.
    """
    rows = [row_of(fact, uuid4()) for fact in facts]
    if isinstance(connection, SqliteThread):
        insert_late(connection, _table, rows)
    else:
        await insert_all(connection, _table, rows)


async def measure_writes(database: Database, dialect: str, rounds: int) -> WriteFigures:
    random = Random(2)
    rates: defaultdict[str, list[float]] = defaultdict(list)
    slowest: defaultdict[str, list[float]] = defaultdict(list)

    async def measure(name: str, write: Write, units: list[list[Fact]], *, with_fold: bool = False) -> None:
        # As the gateway does, in the background.
        fold = BackgroundTask("fold", Fold(database, SECONDS_BETWEEN_SWEEPS).run, every=0.5)
        async with running([fold]) if with_fold else nullcontext():
            times, seconds = await _write_at_once(database, write, units)
        rates[name].append(sum(map(len, units)) / seconds)
        slowest[name].append(1_000 * max(times))

    async def measure_fold(name: str, many: int) -> None:
        started = perf_counter()
        await fold_all(database)
        rates[name].append(many / (perf_counter() - started))

    for _ in range(rounds):
        await measure("live alone", insert_alone, _live(random))
        await measure("live unfolded", record_facts, _live(random))
        await measure_fold("folded", LIVE)
        await measure("live", record_facts, _live(random), with_fold=True)
        await fold_all(database)
        await measure("bulk alone", insert_alone, _back_fill(random))
        await measure("back-fill", record_facts, _back_fill(random))
        await measure_fold("folded, of back-fill", BATCHES * BATCH)
    medians = [{name: median(values) for name, values in each.items()} for each in (rates, slowest)]
    return WriteFigures(dialect, *medians)


async def _write_at_once(
    database: Database, write: Write, units: Sequence[Sequence[Fact]]
) -> tuple[list[float], float]:
    """Write all units with several writers; returns the seconds of each transaction and of all together."""
    remaining, times = iter(units), []

    async def work() -> None:
        for facts in remaining:
            started = perf_counter()
            async with database.write() as connection:
                await write(connection, facts)
            times.append(perf_counter() - started)

    started = perf_counter()
    await asyncio.gather(*(work() for _ in range(WRITERS)))
    return times, perf_counter() - started


def _live(random: Random) -> list[list[Fact]]:
    """Units of one fact each, at the present moment."""
    now = datetime.now(UTC)
    return [[fact] for fact in islice(_facts(random, lambda: now), LIVE)]


def _back_fill(random: Random) -> list[list[Fact]]:
    """Units of many facts each, spread over two years."""
    now = datetime.now(UTC)
    facts = _facts(random, lambda: now - timedelta(days=BACK_FILL_DAYS * random.random()))
    return [[*islice(facts, BATCH)] for _ in range(BATCHES)]


def _facts(random: Random, moment: Callable[[], datetime]) -> Iterator[Fact]:
    for kind in cycle(KINDS):
        share_id, person = random.choice(SHARE_IDS), random.randint(1, CUSTOMERS)
        if kind is FactKind.COST:
            yield Fact(WORKSPACE_ID, kind, moment(), share_id, person, currency="usd", parts=12_500_000_000)
        else:
            yield Fact(WORKSPACE_ID, kind, moment(), share_id, person)
