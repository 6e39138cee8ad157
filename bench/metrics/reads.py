"""The time of questions to one database, by our code and over raw rows; checks that both answer the same."""

from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter
from uuid import UUID

from bench.metrics.cases import (
    ALL,
    BY_SHARE,
    CURRENCY,
    FILTERED,
    IN_KOLKATA,
    QUESTIONS,
    RANGES,
    TOP,
    TOP_BY,
    Dates,
    Question,
)
from bench.metrics.loading import WORKSPACE_ID, Progress
from bench.metrics.raw import Raw
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.metrics.definitions import METRICS
from storage.metrics.grouping.engine import GroupedReader
from storage.metrics.grouping.groups import AnyKey, Grouping
from storage.metrics.grouping.make import make_groups
from storage.metrics.grouping.ranking import Ranking
from storage.metrics.reading.cell_source import make_source
from storage.metrics.reading.engine import Columns, Needs, Reading, columns_of, compute, read
from storage.metrics.reading.fact_source import FactSource

# Our answers take less time, so a round has more of them.
OURS_IN_A_ROUND = 3
RAW = "raw"


@dataclass(frozen=True)
class ReadFigures:
    """Medians in milliseconds by range and question. `RAW`: all 21 metrics in New York over raw rows."""

    dialect: str
    size: int
    medians: dict[tuple[str, str], float]


async def measure_reads(
    database: Database, dialect: str, size: int, rounds: int, progress: Progress
) -> ReadFigures:
    for dates in RANGES:
        progress(f"comparing answers, {dates.name}")
        await _compare(database, dates)
    times: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds):
        progress(f"reading, round {turn + 1}")
        for dates in RANGES:
            started = perf_counter()
            await _raw(database, ALL, dates)
            times.setdefault((dates.name, RAW), []).append(perf_counter() - started)
            for question in QUESTIONS * OURS_IN_A_ROUND:
                started = perf_counter()
                await _ours(database, question, dates)
                times.setdefault((dates.name, question.name), []).append(perf_counter() - started)
    return ReadFigures(dialect, size, {key: 1_000 * median(values) for key, values in times.items()})


async def _compare(database: Database, dates: Dates) -> None:
    """Exit unless our answers equal those over raw rows, and with filters those from the log."""
    for question in (ALL, IN_KOLKATA):
        _check(question, dates, await _ours(database, question, dates), await _raw(database, question, dates))
    for question in FILTERED:
        async with database.snapshot() as connection:
            log = FactSource(connection, question.selection)
            expected = await compute(log, question.metrics, question.edges(dates), CURRENCY)
        _check(question, dates, await _ours(database, question, dates), expected)
    await _compare_groups(database, dates)


async def _compare_groups(database: Database, dates: Dates) -> None:
    """Exit unless a group has the metrics that its share has as a filter."""
    edges = BY_SHARE.edges(dates)
    async with database.snapshot() as connection:
        source = make_source(connection, BY_SHARE.selection)
        reading = await read(source, Needs.of(METRICS), edges, CURRENCY)
        for key, columns in (await _groups(connection, BY_SHARE, edges, reading)).items():
            if isinstance(key, UUID):
                selection = replace(BY_SHARE.selection, share_ids=(key,))
                _check(
                    BY_SHARE,
                    dates,
                    columns,
                    await compute(make_source(connection, selection), METRICS, edges, CURRENCY),
                )


def _check(question: Question, dates: Dates, ours: Columns, expected: Columns) -> None:
    differing = [
        slug
        for slug in expected.totals
        if (ours.periods[slug], ours.totals[slug]) != (expected.periods[slug], expected.totals[slug])
    ]
    if differing:
        raise SystemExit(
            f"{dates.name}, {question.name}: these differ from the expected answer: {', '.join(differing)}"
        )


async def _raw(database: Database, question: Question, dates: Dates) -> Columns:
    async with database.snapshot() as connection:
        return await Raw(connection, WORKSPACE_ID).compute(question.edges(dates), CURRENCY)


async def _ours(database: Database, question: Question, dates: Dates) -> Columns:
    async with database.snapshot() as connection:
        source, edges = make_source(connection, question.selection), question.edges(dates)
        reading = await read(source, Needs.of(question.metrics), edges, CURRENCY)
        if question.grouping is not None:
            await _groups(connection, question, edges, reading)
        return columns_of(question.metrics, reading)


async def _groups(
    connection: Connection, question: Question, edges: list[int], reading: Reading
) -> dict[AnyKey, Columns]:
    """The largest groups and the rest, as the resolver reads them."""
    grouping = question.grouping or Grouping.SHARE
    source = make_source(connection, question.selection)
    grouped = GroupedReader(source, make_groups(connection, question.selection, grouping), CURRENCY)
    ranked = await Ranking(question.metrics, TOP_BY, TOP).choose(grouped, [edges], by_first=True)
    return await grouped.columns(ranked.keys, question.metrics, edges, reading)
