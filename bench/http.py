"""The gateway's requests compared with the floor, a hand-written service over the same tables.

Run by `make bench`. Floor and gateway answer by turns through 32 connections, one worker each. The figure to
read is the ratio of processor time, of server and database together: it hardly moves with what else the
machine does. Exits with 1 if a target is missed.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bench import servers
from bench.client import Client
from bench.drawing import Bar, chart
from bench.measuring import Figures, Side, measure, ratio
from bench.processes import QUIET_CORES, machine, versions
from bench.report import Check, number, table
from bench.requests import Case, cases, guarded
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
    """One request of the floor and of the gateway."""

    case: Case
    floor: Figures
    ours: Figures

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
    assert site.postgresql is not None
    compared = []
    with ExitStack() as stack:
        floor = stack.enter_context(servers.floor(site))
        ours = stack.enter_context(servers.gateway(site))
        log = site.folder / "access.log"
        with_limits = stack.enter_context(servers.gateway(site, log=log, **GUARDED))
        plain = cases(_customer(ours, site))
        reads = [case for case in plain if case.is_read]
        # Changes come last, because they make the lists longer.
        pairs = [(case, ours) for case in reads]
        pairs += [(guarded(case), with_limits) for case in reads if case.is_guarded]
        pairs += [(case, ours) for case in plain if not case.is_read]
        for case, server in pairs:
            if only not in case.name:
                continue
            servers.vacuum(site)
            sides = [Side(floor, case.floor, site.token), Side(server, case.ours, site.token)]
            compared.append(Compared(case, *measure(sides, site.postgresql.pid, rounds, seconds)))
            progress.print(f"{case.name}: {compared[-1].check.figures[0]:.3f} of the floor", highlight=False)
    return compared


def measure_sqlite(site: Site, rounds: int, seconds: float, only: str) -> list[tuple[Check, Figures]]:
    """Some of the requests on SQLite, which runs in the gateway's own process."""
    measured = []
    with servers.gateway(site) as ours:
        for case in cases(_customer(ours, site)):
            if case.name not in SQLITE or only not in case.name:
                continue
            (figures,) = measure([Side(ours, case.ours, site.token)], None, rounds, seconds)
            progress.print(f"SQLite, {case.name}: {figures.server:.0f} us", highlight=False)
            measured.append((Check(case.name, "us", [figures.server], most=SQLITE[case.name]), figures))
    return measured


def _customer(server: Server, site: Site) -> str:
    page = Client(server.address, site.token).get("/api/customers/?limit=1")
    return str(page["data"][0]["id"])


def comparison_table(compared: Sequence[Compared]) -> str:
    """Microseconds of processor time for a request, as server + database."""
    header = ["request", "floor, us", "ours, us", "floor / ours", "target", ""]
    header += ["floor, req/s", "ours, req/s", "p50, ms", "p99, ms", "p99 / p50", ""]
    rows = []
    for each in compared:
        check, slowest, ours = each.check, each.slowest, each.ours
        times = [f"{side.server:,.0f} + {side.database:,.0f}" for side in (each.floor, ours)]
        speeds = [number(each.floor.rate), number(ours.rate), number(ours.p50), number(ours.p99)]
        verdict = [number(check.figures[0]), check.bound, check.verdict]
        rows.append([each.case.name, *times, *verdict, *speeds, number(slowest.figures[0]), slowest.verdict])
    return table(header, rows)


def drawing_of(compared: Sequence[Compared]) -> str:
    """Floor and gateway beside each other; a batch takes too long for the scale of the others."""
    rows = [
        (
            each.case.name.replace("`", ""),
            [
                Bar("floor", each.floor.server, each.floor.database),
                Bar("ours", each.ours.server, each.ours.database),
            ],
        )
        for each in compared
        if "ingest" not in each.case.name and "guarded" not in each.case.name
    ]
    return chart(
        "Microseconds of processor time, server + database: the floor in grey, Duograph in blue", rows
    )


def sqlite_table(measured: Sequence[tuple[Check, Figures]]) -> str:
    header = ["request on SQLite", "us", "target", "", "req/s", "p50, ms", "p99, ms"]
    rows = []
    for check, figures in measured:
        speeds = map(number, (figures.rate, figures.p50, figures.p99))
        rows.append([check.what, number(figures.server), check.bound, check.verdict, *speeds])
    return table(header, rows)


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
    parser.add_argument("--seconds", type=float, default=2, help="seconds of each turn")
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
        print(f"{comparison_table(compared)}\n\n{noise([each.ours for each in compared])}\n", flush=True)
    if "sqlite" in arguments.databases:
        with tempfile.TemporaryDirectory() as folder, servers.site(Path(folder), on_postgresql=False) as site:
            measured = measure_sqlite(site, *measuring)
        checks += [check for check, _ in measured]
        print(f"{sqlite_table(measured)}\n")
    sys.exit(any(not check.is_met for check in checks))


if __name__ == "__main__":
    main()
