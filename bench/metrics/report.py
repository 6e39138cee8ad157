"""The measurements as tables in Markdown, and whether they meet the targets."""

from collections.abc import Iterator, Sequence

from bench.kit.report import Check, number, table
from bench.metrics.cases import (
    ALL,
    FILTERED,
    GROUPED,
    IN_KOLKATA,
    OF_BUSIEST_SHARE,
    QUESTIONS,
    RANGES,
)
from bench.metrics.reads import RAW, ReadFigures
from bench.metrics.writes import WriteFigures

# How many times faster than raw, by size.
FASTER_THAN_RAW = {1_000_000: 20, 5_000_000: 60}
SMALLEST, LARGEST = 100_000, 5_000_000
RATES = ("live alone", "live", "bulk alone", "back-fill", "folded", "folded, of back-fill")
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def make_checks(reads: Sequence[ReadFigures], writes: Sequence[WriteFigures]) -> list[Check]:
    checks = [check for figures in reads for check in _checks_of_reads(figures)]
    checks += _checks_of_growth(reads)
    return checks + [check for figures in writes for check in _checks_of_writes(figures)]


def _checks_of_reads(figures: ReadFigures) -> Iterator[Check]:
    where = f"{NAMES[figures.dialect]}, {size_name(figures.size)}"

    def ratios(over: str, under: str) -> list[float]:
        return [figures.medians[dates.name, over] / figures.medians[dates.name, under] for dates in RANGES]

    yield Check("raw / all 21", where, ratios(RAW, ALL.name), least=FASTER_THAN_RAW.get(figures.size))
    yield Check("Kolkata / New York", where, ratios(IN_KOLKATA.name, ALL.name), most=4)
    for question in FILTERED:
        most = None if question is OF_BUSIEST_SHARE else 1
        yield Check(f"{question.name} / all rows", where, ratios(question.name, ALL.name), most=most)
    for grouped, ungrouped in GROUPED:
        # A dashboard's range: hours and months are only shown.
        by_day, *_ = ratios(grouped.name, ungrouped.name)
        yield Check(f"{grouped.name} / {ungrouped.name}", where, [by_day], most=5)


def _checks_of_growth(reads: Sequence[ReadFigures]) -> Iterator[Check]:
    by_size = {(each.dialect, each.size): each.medians for each in reads}
    for dialect, name in NAMES.items():
        small, large = by_size.get((dialect, SMALLEST)), by_size.get((dialect, LARGEST))
        if small is not None and large is not None:
            growth = [large[dates.name, ALL.name] / small[dates.name, ALL.name] for dates in RANGES]
            yield Check(f"{size_name(LARGEST)} / {size_name(SMALLEST)}", name, growth, most=2)


def _checks_of_writes(figures: WriteFigures) -> Iterator[Check]:
    where, rates, slowest = NAMES[figures.dialect], figures.rates, figures.slowest
    yield Check("live facts / facts alone", where, [rates["live"] / rates["live alone"]], least=0.8)
    yield Check("back-fill / bulk insert", where, [rates["back-fill"] / rates["bulk alone"]], least=0.5)
    yield Check("live facts folded per second", where, [rates["folded"]], least=5_000)
    blocked = max(0.0, slowest["live"] - slowest["live unfolded"])
    yield Check("slowest write with the fold minus without, ms", where, [blocked], most=20)


def reads_table(reads: Sequence[ReadFigures]) -> str:
    """Medians in milliseconds."""
    columns = [RAW, *(question.name for question in QUESTIONS)]
    rows = [
        [NAMES[each.dialect], size_name(each.size), dates.name]
        + [number(each.medians[dates.name, column]) for column in columns]
        for each in reads
        for dates in RANGES
    ]
    return table(["database", "sessions", "range", *columns], rows)


def writes_table(writes: Sequence[WriteFigures]) -> str:
    """Facts per second, and the slowest write in milliseconds."""
    header = ["database", *RATES, "slowest without the fold, ms", "with it, ms"]
    rows = []
    for each in writes:
        figures = [*(each.rates[name] for name in RATES), each.slowest["live unfolded"], each.slowest["live"]]
        rows.append([NAMES[each.dialect], *map(number, figures)])
    return table(header, rows)


def checks_table(checks: Sequence[Check]) -> str:
    """Checks of reads have one figure for each range."""
    header = ["ratio or rate", "where", *(dates.name for dates in RANGES), "target", ""]
    rows = []
    for check in checks:
        figures = [*map(number, check.figures), *([""] * (len(RANGES) - len(check.figures)))]
        rows.append([check.what, check.where, *figures, check.bound, check.verdict])
    return table(header, rows)


def size_name(size: int) -> str:
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)
