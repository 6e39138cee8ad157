"""The gateway's requests compared with two floors, hand-written services over the same tables.

Run by `make bench`. The floor uses asyncpg as it comes, the tuned floor does what else is known to help;
targets are for the floor. All servers start anew in each round, because a process keeps its luck with memory
and hash seeds, which moves its times by a tenth. They answer by turns through 32 connections, one worker
each. The figure to read is the ratio of processor time, of server and database together: it hardly moves with
what else the machine does. Exits with 1 if a target is missed.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from bench import servers
from bench.client import Client
from bench.drawing import Bar, chart
from bench.measuring import (
    MOST_SECONDS_TO_FOLD,
    PAUSE_BETWEEN_FOLDS,
    Figures,
    Side,
    measure,
    ratio,
    settle,
)
from bench.processes import QUIET_CORES, machine, versions
from bench.reference import FLOOR_MICROSECONDS, SERVERS, Pace, floor_factor, work_seconds
from bench.report import Check, number, table
from bench.requests import Case, by_floor, cases, guarded
from bench.servers import Server, Site
from bench.wrk import require_wrk

# The limit is out of reach, but each call is charged to it.
GUARDED = {"DUOGRAPH_RATE_LIMIT": "1000000000", "DUOGRAPH_ACCESS_LOG": "true"}
MOST_P99 = 3
SQLITE = {
    "REST: list of 10 shares": 250,
    "REST: one customer": None,
    "REST: create a customer": None,
}

progress = Console(stderr=True)


@dataclass(frozen=True)
class Compared:
    """One request of both floors and of the gateway."""

    case: Case
    floor: Figures
    tuned: Figures
    ours: Figures

    @classmethod
    def joined(cls, parts: Sequence["Compared"]) -> "Compared":
        """The same request in several rounds."""
        sides = ((each.floor, each.tuned, each.ours) for each in parts)
        return cls(parts[0].case, *map(Figures.joined, zip(*sides, strict=True)))

    @property
    def check(self) -> Check:
        return Check(self.case.name, "floor / ours", [ratio(self.floor, self.ours)], least=self.case.target)

    @property
    def slowest(self) -> Check:
        """How far the slow requests are from the usual one; other processes decide that on a busy machine."""
        quiet = self.ours.is_quiet
        figures = [self.ours.p99 / self.ours.p50]
        return Check(self.case.name, "p99 / p50", figures, most=MOST_P99 if quiet else None)


def compare(site: Site, rounds: int, seconds: float, only: str) -> list[Compared]:
    """Every request of the targets, on PostgreSQL."""
    by_name: dict[str, list[Compared]] = {}
    for place in range(rounds):
        for each in one_round(site, seconds, only):
            by_name.setdefault(each.case.name, []).append(each)
            figure = f"{each.case.name}: {each.check.figures[0]:.3f} of the floor"
            progress.print(f"Round {place + 1}, {figure}", highlight=False)
    return [Compared.joined(parts) for parts in by_name.values()]


def one_round(site: Site, seconds: float, only: str) -> Iterator[Compared]:
    """One turn of each server for each request. Changes come last, because they make the lists longer."""
    assert site.postgresql is not None
    with ExitStack() as stack:
        floors = [stack.enter_context(servers.floor(site, tuned=tuned)) for tuned in (False, True)]
        ours = stack.enter_context(servers.gateway(site))
        log = site.folder / "access.log"
        with_limits = stack.enter_context(servers.gateway(site, log=log, **GUARDED))
        rest_after_the_last_round(site, ours)
        for request, same in by_floor(cases(_customer(ours, site))):
            pairs = [(case, ours) for case in same]
            pairs += [(guarded(case), with_limits) for case in same if case.is_guarded]
            pairs = [(case, server) for case, server in pairs if only in case.name]
            if not pairs:
                continue
            sides = [Side(floor, request, site.token) for floor in floors]
            sides += [Side(server, case.ours, site.token) for case, server in pairs]
            rest = None if same[0].is_read else partial(rest_after_changes, site)
            floor, tuned, *gateways = measure(sides, site.postgresql.pid, 1, seconds, rest)
            for (case, _), figures in zip(pairs, gateways, strict=True):
                yield Compared(case, floor, tuned, figures)


def rest_after_the_last_round(site: Site, server: Server) -> None:
    """Let the gateway fold what the changes of the last round left behind."""
    settle(site.processes(server), PAUSE_BETWEEN_FOLDS, MOST_SECONDS_TO_FOLD)
    servers.vacuum(site)


def rest_after_changes(site: Site) -> None:
    """Fold what both floors and the gateway left behind: the gateway would otherwise do it for the floors."""
    servers.fold(site)
    servers.vacuum(site)


def measure_sqlite(site: Site, rounds: int, seconds: float, only: str) -> tuple[Pace, dict[str, Figures]]:
    """Some of the requests on SQLite, which runs in the gateway's own process."""
    by_name: dict[str, list[Figures]] = {name: [] for name in SQLITE if only in name}
    works = []
    for place in range(rounds):
        works.append(work_seconds())
        with servers.gateway(site) as ours:
            rest_after_the_last_round(site, ours)
            for case in cases(_customer(ours, site)):
                if case.name not in by_name:
                    continue
                figures = measure([Side(ours, case.ours, site.token)], None, 1, seconds)
                by_name[case.name] += figures
                figure = f"SQLite, {case.name}: {figures[0].server:.0f} us"
                progress.print(f"Round {place + 1}, {figure}", highlight=False)
        works.append(work_seconds())
    return Pace.of(works, SERVERS), {name: Figures.joined(parts) for name, parts in by_name.items()}


def _customer(server: Server, site: Site) -> str:
    """The oldest customer, the same in each round."""
    page = Client(server.address, site.token).get("/api/customers/?limit=1&sorting=created_at")
    return str(page["data"][0]["id"])


def comparison_table(compared: Sequence[Compared]) -> str:
    """Microseconds of processor time for a request, as server + database."""
    header = ["request", "floor, us", "tuned floor, us", "ours, us", "floor / ours", "target", ""]
    header += ["tuned / ours", "floor, req/s", "ours, req/s", "p50, ms", "p99, ms", "p99 / p50", ""]
    rows = []
    for each in compared:
        check, slowest, ours = each.check, each.slowest, each.ours
        times = [f"{side.server:,.0f} + {side.database:,.0f}" for side in (each.floor, each.tuned, ours)]
        ratios = [number(check.figures[0]), check.bound, check.verdict, number(ratio(each.tuned, ours))]
        speeds = [number(each.floor.rate), number(ours.rate), number(ours.p50), number(ours.p99)]
        rows.append([each.case.name, *times, *ratios, *speeds, number(slowest.figures[0]), slowest.verdict])
    return table(header, rows)


def drawing_of(compared: Sequence[Compared]) -> str:
    """Both floors and the gateway beside each other; a batch takes too long for the scale of the others."""
    rows = [
        (
            each.case.name.replace("`", ""),
            [
                Bar(kind, side.server, side.database)
                for kind, side in (("floor", each.floor), ("tuned", each.tuned), ("ours", each.ours))
            ],
        )
        for each in compared
        if "ingest" not in each.case.name and "guarded" not in each.case.name
    ]
    return chart(
        "Microseconds of processor time, server + database: the floor in grey, the tuned floor in green, "
        "Duograph in blue",
        rows,
    )


def sqlite_checks(pace: Pace, measured: dict[str, Figures]) -> list[Check]:
    return [pace.check(name, "us", each.server, SQLITE[name]) for name, each in measured.items()]


def sqlite_table(pace: Pace, checks: Sequence[Check], measured: dict[str, Figures]) -> str:
    header = ["request on SQLite", "us", "stated target", "target here", "", "req/s", "p50, ms", "p99, ms"]
    rows = []
    for check in checks:
        figures = measured[check.what]
        speeds = map(number, (figures.rate, figures.p50, figures.p99))
        targets = pace.targets(check, SQLITE[check.what])
        rows.append([check.what, number(figures.server), *targets, *speeds])
    return table(header, rows)


def floor_factors(compared: Sequence[Compared]) -> str:
    """How much slower the machine is by the floor itself, if its requests were measured."""
    factors = [
        f"{floor_factor(each.case.name, each.floor.processor):.2f} times ({each.case.name})"
        for each in compared
        if each.case.name in FLOOR_MICROSECONDS
    ]
    return f"Compared with the reference machine, the floor takes {', '.join(factors)}.\n" if factors else ""


def noise(figures: Sequence[Figures]) -> str:
    others = sorted(each.others for each in figures)
    middle = others[len(others) // 2]
    if middle <= QUIET_CORES:
        return f"The machine was quiet: other processes used {middle:.2f} cores."
    return (
        f"The machine was busy: other processes used {middle:.2f} cores, and up to {others[-1]:.2f} during a "
        f"request. Above {QUIET_CORES} cores, p99 is not judged."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the tables show medians")
    parser.add_argument("--seconds", type=float, default=1, help="seconds of each turn")
    parser.add_argument("--only", default="", help="only requests with this text in their name")
    parser.add_argument("--svg", type=Path, help="draw the requests on PostgreSQL into this file")
    parser.add_argument("--databases", type=lambda text: text.split(","), default=["postgresql", "sqlite"])
    arguments = parser.parse_args()
    require_wrk()
    measuring = (arguments.rounds, arguments.seconds, arguments.only)
    checks: list[Check] = []
    print(f"{versions()}; {machine()}.\n")
    if "postgresql" in arguments.databases:
        with tempfile.TemporaryDirectory() as folder, servers.site(Path(folder), on_postgresql=True) as site:
            print(f"{servers.postgresql_version(site)}; {arguments.rounds} rounds.\n")
            compared = compare(site, *measuring)
        checks += [check for each in compared for check in (each.check, each.slowest)]
        if arguments.svg:
            arguments.svg.write_text(drawing_of(compared))
        print(f"{comparison_table(compared)}\n\n{noise([each.ours for each in compared])}")
        print(floor_factors(compared), flush=True)
    if "sqlite" in arguments.databases:
        with tempfile.TemporaryDirectory() as folder, servers.site(Path(folder), on_postgresql=False) as site:
            pace, measured = measure_sqlite(site, *measuring)
        on_sqlite = sqlite_checks(pace, measured)
        checks += on_sqlite
        print(f"{sqlite_table(pace, on_sqlite, measured)}\n\n{pace}\n")
    sys.exit(any(not check.is_met for check in checks))


if __name__ == "__main__":
    main()
