"""Lists of a workspace with 1,000,000 rows compared with those of one with 10,000.

Run by `make bench`. Both workspaces are in one database and are asked by turns, through one connection.
Figures are milliseconds of processor time for a request, of server and database together. Exits with 1 if a
target is missed.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from time import monotonic
from urllib.parse import urlencode
from uuid import UUID

from rich.console import Console

from bench import servers
from bench.client import Client
from bench.growth_rows import LAST_MOMENT, NAMES, fill
from bench.processes import processor_seconds
from bench.reference import SERVERS, Pace, work_seconds
from bench.report import Check, number, table
from bench.servers import Server, Site

SECONDS, LEAST_CALLS = 0.5, 3
# On the reference machine.
LATE_PAGE, MOST_MILLISECONDS = 50_000, 60
MOST_GROWTH = 1.5
NAMES_OF_DATABASES = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}
_DAYS = {
    "start_timestamp": (LAST_MOMENT - timedelta(days=90, minutes=7)).isoformat(),
    "end_timestamp": (LAST_MOMENT - timedelta(minutes=11)).isoformat(),
}

progress = Console(stderr=True)


@dataclass(frozen=True)
class Tenant:
    """A workspace with this many customers and events, and its token."""

    token: str
    rows: int


@dataclass(frozen=True)
class Question:
    """A list, and whether its growth has a target."""

    name: str
    path: str
    is_judged: bool = True


QUESTIONS = (
    Question("events", "/api/events/"),
    Question("events by name", f"/api/events/?{urlencode({'name': NAMES[0]})}"),
    Question("events of 90 days", f"/api/events/?{urlencode(_DAYS)}"),
    Question("events of 90 days by name", f"/api/events/?{urlencode({'name': NAMES[0], **_DAYS})}"),
    Question("event names", "/api/events/names"),
    Question("customers", "/api/customers/"),
    Question("customers by part of a name", "/api/customers/?query=visitor+1234", is_judged=False),
)


@dataclass(frozen=True)
class Growth:
    """Milliseconds for a list of the small workspace, if it has the page, and of the large one."""

    database: str
    question: Question
    small: float | None
    large: float

    def check(self, pace: Pace) -> Check:
        where = NAMES_OF_DATABASES[self.database]
        if self.small is None:
            return pace.check(self.question.name, where, self.large, MOST_MILLISECONDS)
        most = MOST_GROWTH if self.question.is_judged else None
        return Check(self.question.name, where, [self.large / self.small], most=most)

    def row(self, pace: Pace) -> list[str]:
        check = self.check(pace)
        times = ["" if self.small is None else number(self.small), number(self.large)]
        if self.small is None:
            judged = ["", *pace.targets(check, MOST_MILLISECONDS, " ms")]
        else:
            judged = [number(check.figures[0]), check.bound, "", check.verdict]
        return [check.what, check.where, *times, *judged]


class Meter:
    """Measures what the answers of a gateway cost."""

    def __init__(self, site: Site, server: Server) -> None:
        self._pids = site.processes(server)
        self._server = server

    def milliseconds(self, tenant: Tenant, path: str) -> float:
        """Processor time for a request, the mean of some calls."""
        client = Client(self._server.address, tenant.token)
        before, calls, until = self._used(), 0, monotonic() + SECONDS
        while calls < LEAST_CALLS or monotonic() < until:
            client.get(path)
            calls += 1
        return (self._used() - before) * 1000 / calls

    def _used(self) -> float:
        return sum(processor_seconds(pid) for pid in self._pids)


def measure(site: Site, database: str, tenants: Sequence[Tenant], rounds: int) -> list[Growth]:
    small, large = tenants
    growths = []
    with servers.gateway(site) as server:
        meter = Meter(site, server)
        for question in QUESTIONS:
            for tenant in tenants:
                meter.milliseconds(tenant, question.path)
            both = [
                (meter.milliseconds(small, question.path), meter.milliseconds(large, question.path))
                for _ in range(rounds)
            ]
            before, now = map(median, zip(*both, strict=True))
            growths.append(Growth(database, question, before, now))
            progress.print(f"{database}, {question.name}: {now / before:.2f}", highlight=False)
        page = min(LATE_PAGE, large.rows // 20)
        for name in ("events", "customers"):
            question = Question(f"{name}, page {page:,}", f"/api/{name}/?page={page}")
            times = [meter.milliseconds(large, question.path) for _ in range(rounds)]
            growths.append(Growth(database, question, None, median(times)))
            progress.print(f"{database}, {question.name}: {growths[-1].large:.1f} ms", highlight=False)
    return growths


def make_tenants(site: Site, sizes: Sequence[int]) -> list[Tenant]:
    tenants = []
    for rows in sizes:
        progress.print(f"{rows:,} customers and events", highlight=False)
        made = servers.seed(site, sessions=0)
        fill(site, UUID(made["workspace"]["id"]), rows)
        tenants.append(Tenant(made["workspace_token"], rows))
    # The rows were copied past the code that keeps the totals.
    servers.run(site, "totals", "rebuild")
    servers.vacuum(site)
    return tenants


def growth_table(growths: Sequence[Growth], sizes: Sequence[int], pace: Pace) -> str:
    times = (f"{size:,} rows, ms" for size in sizes)
    header = ["list", "database", *times, "growth", "stated target", "target here", ""]
    return table(header, [each.row(pace) for each in growths])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the table shows medians")
    parser.add_argument(
        "--sizes", type=lambda text: [int(each) for each in text.split(",")], default=[10_000, 1_000_000]
    )
    parser.add_argument("--databases", type=lambda text: text.split(","), default=["postgresql", "sqlite"])
    arguments = parser.parse_args()
    growths, works = [], []
    for database in arguments.databases:
        on_postgresql = database == "postgresql"
        with (
            tempfile.TemporaryDirectory() as folder,
            servers.site(Path(folder), on_postgresql=on_postgresql) as site,
        ):
            tenants = make_tenants(site, arguments.sizes)
            works += [work_seconds() for _ in range(arguments.rounds)]
            growths += measure(site, database, tenants, arguments.rounds)
            works += [work_seconds() for _ in range(arguments.rounds)]
    pace = Pace.of(works, SERVERS)
    print(f"{growth_table(growths, arguments.sizes, pace)}\n\n{pace}")
    sys.exit(any(not growth.check(pace).is_met for growth in growths))


if __name__ == "__main__":
    main()
