"""The gateway's requests compared with the floor, a hand-written service over the same tables.

Run by `make bench`. Both servers start anew in each round, because a process keeps its luck with memory and
hash seeds, which moves its times by a tenth. They answer by turns through 32 connections, one worker each.
The figure to read is the ratio of processor time, of server and database together: it hardly moves with what
else the machine does. Exits with 1 if a target is missed.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from rich.console import Console

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.measuring import (
    MOST_SECONDS_TO_FOLD,
    PAUSE_BETWEEN_FOLDS,
    Side,
    Slice,
    measure,
    ratio,
    settle,
    typical,
)
from bench.kit.options import options
from bench.kit.processes import QUIET_CORES, machine, versions
from bench.kit.report import Check, number, table
from bench.kit.requests import Case, by_floor, cases, guarded, metrics_requests
from bench.kit.servers import Server, Site
from bench.kit.wrk import require_wrk
from bench.reference import SERVERS, Pace, work_seconds

# The limit is out of reach, but each call is charged to it.
GUARDED = {"DUOGRAPH_RATE_LIMIT": "1000000000", "DUOGRAPH_ACCESS_LOG": "true"}
MOST_P99 = 3
# Microseconds of the server's processor time on the reference machine; with SQLite, the database's too.
_METRICS = {
    f"{surface}: {name}": most
    for name, most in (
        ("one metric of 51 days", 1_200),
        ("all metrics of 51 days", 3_000),
        ("one metric of a year by day", 4_500),
    )
    for surface in ("REST", "GraphQL")
}
TIMED: dict[str, dict[str, int | None]] = {
    "postgresql": {**_METRICS},
    "sqlite": {
        "REST: list of 10 shares": 250,
        "REST: one customer": None,
        "GraphQL: 10 sessions with their share": 400,
        "GraphQL: 10 sessions with share, customer and 3 payments": 700,
        **dict.fromkeys(_METRICS),
        "REST: create a customer": None,
    },
}
# How many times as long as over REST the same change may take.
MOST_OF_REST = {"": 1.25, ", with a link": 1.4}

progress = Console(stderr=True, highlight=False)


class Turn(NamedTuple):
    """A turn of the floor and of the gateway for one request."""

    case: Case
    floor: Slice
    ours: Slice


def one_round(site: Site, seconds: float, only: str) -> Iterator[Turn]:
    """One turn of each server for each request. Changes come last, because they make the lists longer."""
    assert site.postgresql is not None
    with ExitStack() as stack:
        floor = stack.enter_context(servers.floor(site))
        ours = stack.enter_context(servers.gateway(site))
        log = site.folder / "access.log"
        with_limits = stack.enter_context(servers.gateway(site, log=log, **GUARDED))
        rest_after_the_last_round(site, ours)
        for request, same in by_floor(cases(*ids(ours, site))):
            pairs = [(case, ours) for case in same]
            pairs += [(guarded(case), with_limits) for case in same if case.is_guarded]
            pairs = [(case, server) for case, server in pairs if only in case.name]
            if not pairs:
                continue
            sides = [Side(server, case.ours, site.token) for case, server in pairs]
            rest = None if same[0].is_read else partial(rest_after_changes, site)
            by_hand, *gateways = measure(
                [Side(floor, request, site.token), *sides], [site.postgresql.pid], 1, seconds, rest
            )
            for (case, _), slices in zip(pairs, gateways, strict=True):
                yield Turn(case, by_hand[0], slices[0])


def rest_after_the_last_round(site: Site, server: Server) -> None:
    """Let the gateway fold what the changes of the last round left behind."""
    settle(site.processes(server), PAUSE_BETWEEN_FOLDS, MOST_SECONDS_TO_FOLD)
    servers.vacuum(site)


def rest_after_changes(site: Site) -> None:
    """Fold what the floor and the gateway left behind: the gateway would otherwise do it for the floor."""
    servers.fold(site)
    servers.vacuum(site)


def ids(server: Server, site: Site) -> list[str]:
    """The oldest customer and the oldest session, the same in each round."""
    client = Client(server.address, site.token)
    pages = [
        client.get(f"/api/{name}/?limit=1&sorting=created_at")
        for name in ("customers", "file-share-sessions")
    ]
    return [str(page["data"][0]["id"]) for page in pages]


def on_postgresql(site: Site, rounds: int, seconds: float, only: str) -> list[Check]:
    """Print how every request compares with the floor: microseconds of processor time, server + database."""
    turns: dict[str, list[Turn]] = defaultdict(list)
    for place in range(rounds):
        for turn in one_round(site, seconds, only):
            turns[turn.case.name].append(turn)
            figure = turn.floor.processor / turn.ours.processor
            progress.print(f"Round {place + 1}, {turn.case.name}: {figure:.3f} of the floor")
    if not turns:
        return []
    header = ["request", "floor, us", "ours, us", "floor / ours", "target", ""]
    header += ["floor, req/s", "ours, req/s", "p50, ms", "p99, ms", "p99 / p50", ""]
    rows, checks, others = [], [], []
    for name, same in turns.items():
        floors, gateways = [turn.floor for turn in same], [turn.ours for turn in same]
        floor, ours = typical(floors), typical(gateways)
        check = Check(name, "floor / ours", [ratio(floors, gateways)], least=same[0].case.target)
        # On a busy machine, other processes decide how far the slow requests are from the usual one.
        most = MOST_P99 if ours.is_quiet else None
        slowest = Check(name, "p99 / p50", [ours.p99 / ours.p50], most=most)
        speeds = map(number, (floor.rate, ours.rate, ours.p50, ours.p99))
        rows.append([name, floor.times, ours.times, *check.cells, *speeds, slowest.figure, slowest.verdict])
        checks += [check, slowest]
        others.append(ours.others)
    print(f"{table(header, rows)}\n\n{noise(sorted(others))}\n", flush=True)
    return checks + compared_with_rest({name: [turn.ours for turn in same] for name, same in turns.items()})


def compared_with_rest(ours: Mapping[str, Sequence[Slice]]) -> list[Check]:
    """Print how many times as long as over REST a change takes over GraphQL."""
    rest, checks = ours.get("REST: create a customer"), []
    for link, most in MOST_OF_REST.items():
        for form in ("", " by literals"):
            name = f"GraphQL: create a customer{form}{link}"
            if rest and name in ours:
                checks.append(Check(name, "GraphQL / REST", [ratio(ours[name], rest)], most=most))
    if checks:
        rows = [[check.what, *check.cells] for check in checks]
        print(f"{table(['change', 'GraphQL / REST', 'target', ''], rows)}\n", flush=True)
    return checks


def timed(site: Site, rounds: int, seconds: float, only: str) -> list[Check]:
    """Print what requests with targets in time, or without a floor, take of the server's processor time."""
    database = "postgresql" if site.postgresql else "sqlite"
    asked = TIMED[database]
    by_name: dict[str, list[Slice]] = {name: [] for name in asked if only in name}
    if not by_name:
        return []
    databases, works = [site.postgresql.pid] if site.postgresql else [], []
    for place in range(rounds):
        works.append(work_seconds())
        with servers.gateway(site) as ours:
            rest_after_the_last_round(site, ours)
            requests = {case.name: case.ours for case in cases(*ids(ours, site))} | dict(metrics_requests())
            for name, slices in by_name.items():
                ((measured,),) = measure([Side(ours, requests[name], site.token)], databases, 1, seconds)
                slices.append(measured)
                progress.print(f"Round {place + 1}, {database}, {name}: {measured.server:.0f} us")
        works.append(work_seconds())
    pace = Pace.of(works, SERVERS)
    title = {"postgresql": "request on PostgreSQL, the server alone", "sqlite": "request on SQLite"}[database]
    header = [title, "us", "stated target", "target here", "", "req/s", "p50, ms", "p99, ms"]
    rows, checks = [], []
    for name, slices in by_name.items():
        middle, stated = typical(slices), asked[name]
        checks.append(pace.check(name, "us", middle.server, stated))
        speeds = map(number, (middle.rate, middle.p50, middle.p99))
        rows.append([name, number(middle.server), *pace.targets(checks[-1], stated), *speeds])
    print(f"{table(header, rows)}\n\n{pace}\n")
    return checks


def noise(others: Sequence[float]) -> str:
    middle = others[len(others) // 2]
    if middle <= QUIET_CORES:
        return f"The machine was quiet: other processes used {middle:.2f} cores."
    return (
        f"The machine was busy: other processes used {middle:.2f} cores, and up to {others[-1]:.2f} during a "
        f"request. Above {QUIET_CORES} cores, p99 is not judged."
    )


def main() -> None:
    arguments = options(__doc__, rounds=5, seconds=1.0, only="", databases=["postgresql", "sqlite"])
    require_wrk()
    checks: list[Check] = []
    print(f"{versions()}; {machine()}.\n")
    for database in arguments.databases:
        with servers.site(database) as site:
            if site.postgresql:
                print(f"{servers.postgresql_version(site)}; {arguments.rounds} rounds.\n")
                checks += on_postgresql(site, arguments.rounds, arguments.seconds, arguments.only)
            checks += timed(site, arguments.rounds, arguments.seconds, arguments.only)
    sys.exit(any(not check.is_met for check in checks))


if __name__ == "__main__":
    main()
