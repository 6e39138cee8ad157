"""The time of questions to one database, by our code and over raw rows; checks that both answer the same."""

from dataclasses import dataclass
from statistics import median
from time import perf_counter

from bench.metrics.cases import (
    ALL,
    CURRENCY,
    FILTERED,
    IN_KOLKATA,
    QUESTIONS,
    RANGES,
    Dates,
    Question,
)
from bench.metrics.loading import WORKSPACE_ID, Progress
from bench.metrics.raw import Raw
from storage.database import Database
from storage.metrics.reading.cell_source import make_source
from storage.metrics.reading.engine import Columns, compute
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
        progress(f"comparing answers, {dates.name}", 0)
        await _compare(database, dates)
    times: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds):
        for dates in RANGES:
            progress(f"reading, {dates.name}", turn / rounds)
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
        source = make_source(connection, question.selection)
        return await compute(source, question.metrics, question.edges(dates), CURRENCY)
