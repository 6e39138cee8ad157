"""Mixed load for some minutes on PostgreSQL, through two workers: `make load MINUTES=15`.

Callers read and write through both surfaces without a pause, upload files and use the portal. Prints the
times of each operation and the memory of each minute; `--page` writes them into `docs/faults.md`. Exits with
1 if an answer was no success, or if the workers' memory still grew after the warm-up.
"""

import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from time import monotonic, sleep

from rich.console import Console

from bench.kit import servers
from bench.kit.client import Refused
from bench.kit.options import options
from bench.kit.processes import machine, memory_mib, tree, versions
from bench.kit.report import Check, number, renew, table
from bench.kit.servers import ROOT, Server, Site
from bench.mixed_operations import OPERATIONS, Caller

CALLERS = 8
WORKERS = 2
MOST_GROWTH = 1.05
# The part of the time after which memory may not grow, and at least so many minutes.
WARM_UP, SHORTEST_WARM_UP = 1 / 5, 1
PAGE, START = ROOT / "docs" / "faults.md", "<!-- make load -->"

progress = Console(stderr=True)


@dataclass
class Load:
    """What the callers saw: seconds by operation, and refusals. `minutes` are requests and MiB of each."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refusals: Counter[str] = field(default_factory=Counter)
    minutes: list[tuple[int, float, float]] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return sum(map(len, self.seconds.values()))


def call(caller: Caller, load: Load, place: int, end: float) -> None:
    """Call the operations in turn until the end; each caller begins with another one."""
    turn = place * 3
    while monotonic() < end:
        name, operation = OPERATIONS[turn % len(OPERATIONS)]
        begun = monotonic()
        try:
            operation(caller)
        except (Refused, HTTPException, OSError) as error:
            load.refusals[f"{name}: {error}"[:300]] += 1
        load.seconds[name].append(monotonic() - begun)
        turn += 1


def watch(load: Load, server: Server, postgresql: int, minutes: int) -> None:
    """Note the requests and the memory of each minute."""
    begun = monotonic()
    for minute in range(1, minutes + 1):
        sleep(max(0, begun + minute * 60 - monotonic()))
        # The parent and the workers; pages that they share count once.
        load.minutes.append((load.requests, memory_mib(server.pid), memory_mib(postgresql)))
        progress.print(f"minute {minute}: {load.requests:,} requests, {load.minutes[-1][1]:.1f} MiB")


def run(site: Site, minutes: int) -> Load:
    load, end = Load(), monotonic() + minutes * 60
    assert site.postgresql is not None
    with servers.gateway(site, options=["--workers", str(WORKERS)]) as server:
        while len(tree(server.pid)) <= WORKERS:
            sleep(0.1)
        callers = [Caller(server.address, site.token, place) for place in range(CALLERS)]
        with ThreadPoolExecutor(CALLERS) as pool:
            calls = [pool.submit(call, caller, load, place, end) for place, caller in enumerate(callers)]
            watch(load, server, site.postgresql.pid, minutes)
        for each in calls:
            each.result()
    return load


def percentile(seconds: list[float], part: float) -> str:
    """Milliseconds."""
    ordered = sorted(seconds)
    return number(ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000)


def report(load: Load, growth: Check) -> str:
    """The page's section: times by operation, memory by minute, and the verdicts."""
    operations = [
        [name, f"{len(times):,}", *(percentile(times, part) for part in (0.5, 0.99, 1))]
        for name, times in sorted(load.seconds.items())
    ]
    steps = zip([(0, 0.0, 0.0), *load.minutes], load.minutes, strict=False)
    minutes = [
        [str(place), number((after[0] - before[0]) / 60), f"{after[1]:.1f}", f"{after[2]:.1f}"]
        for place, (before, after) in enumerate(steps, 1)
    ]
    refused = sum(load.refusals.values())
    what = f"{load.requests:,} requests in {len(load.minutes)} minutes by {CALLERS} callers without a pause"
    summary = (
        f"{what}: {refused or 'none'} of them failed. The workers' memory after the warm-up and in the end: "
        f"{growth.figures[0]:.3f} times ({growth.bound}: {growth.verdict})."
    )
    return "\n\n".join(
        [
            f"{versions()}; {machine()}.",
            summary,
            table(["operation", "requests", "p50, ms", "p99, ms", "longest, ms"], operations),
            table(["minute", "requests/s", "gateway, MiB", "PostgreSQL, MiB"], minutes),
        ]
    )


def main() -> None:
    arguments = options(__doc__, minutes=15, page=False)
    with servers.site() as site:
        # As in production: rows that are folded leave dead ones behind.
        servers.psql(site, "ALTER SYSTEM SET autovacuum = on", "SELECT pg_reload_conf()")
        load = run(site, arguments.minutes)
    warm = max(SHORTEST_WARM_UP, round(arguments.minutes * WARM_UP))
    memory = [mib for _, mib, _ in load.minutes]
    growth = Check("memory", "", [memory[-1] / memory[min(warm, len(memory)) - 1]], most=MOST_GROWTH)
    text = report(load, growth)
    print(text)
    for refusal, many in load.refusals.most_common(20):
        progress.print(f"{many} times {refusal}", markup=False)
    if arguments.page:
        renew(PAGE, START, text)
    sys.exit(bool(load.refusals) or not growth.is_met)


if __name__ == "__main__":
    main()
