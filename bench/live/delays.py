"""How long customers that are created at a steady rate take to be told elsewhere."""

import sys
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from time import monotonic, sleep

from bench.kit.client import Client
from bench.kit.options import options
from bench.kit.processes import machine, versions
from bench.kit.report import Check, table
from bench.neighbours import p99

LONGEST_WAIT = 60
MOST_MEDIAN_MS, MOST_P99_MS = 100, 1000


def delays(
    client: Client, moments: Mapping[str, float], database: str, rate: int, seconds: float
) -> Iterator[Check]:
    """Create `rate` customers a second; `moments` has when each was told, by its id, as it comes in."""
    sleep(2)  # Who is told has to be ready first.
    committed, begun = {}, monotonic()
    for number in range(int(rate * seconds)):
        sleep(max(0.0, begun + number / rate - monotonic()))
        made = client.post("/api/customers/", {"email": f"c{number}@example.com"})
        committed[made["id"]] = monotonic()
    reached = len(committed) / (monotonic() - begun)
    end = monotonic() + LONGEST_WAIT
    while len(moments) < len(committed) and monotonic() < end:
        sleep(0.1)
    missing = len(committed.keys() - moments.keys())
    taken = sorted(1000 * max(0.0, moments[id] - at) for id, at in committed.items() if id in moments)
    where = f"{database}, {reached:.0f} changes/s"
    yield Check("not told", where, [missing], most=0)
    yield Check("median from commit, ms", where, [median(taken)], most=MOST_MEDIAN_MS)
    yield Check("p99, ms", where, [p99(taken)], most=MOST_P99_MS)


def report(
    description: str | None, measure: Callable[[str, int, float], Iterator[Check]], rate: int = 100
) -> None:
    """Measure on each database and print it. Exits with 1 if a target is missed."""
    arguments = options(description, rate=rate, seconds=20.0, only=["postgresql", "sqlite"])
    print(f"{versions()}; {machine()}.\n")
    checks = [
        check for database in arguments.only for check in measure(database, arguments.rate, arguments.seconds)
    ]
    header = ["what", "where", "figure", "target", ""]
    print(table(header, [[each.what, each.where, *each.cells] for each in checks]))
    sys.exit(not all(check.is_met for check in checks))
