"""Lists of a workspace with 1,000,000 rows compared with those of one with 10,000.

Run by `make bench`. Both workspaces are in one database and are asked by turns, through one connection.
Figures are milliseconds of processor time for a request, of server and database together. Exits with 1 if a
target is missed.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from time import monotonic
from urllib.parse import urlencode
from uuid import UUID

from rich.console import Console

from bench.growth_rows import LAST_MOMENT, NAME, fill
from bench.kit import servers
from bench.kit.client import Client
from bench.kit.options import options
from bench.kit.processes import processor_seconds
from bench.kit.report import Check, number, table
from bench.kit.servers import Server, Site
from bench.reference import SERVERS, Pace, work_seconds
from schema.changes.changes import write_position

SECONDS, LEAST_CALLS = 0.5, 3
# On the reference machine.
LATE_PAGE, MOST_MILLISECONDS = 50_000, 60
MOST_GROWTH = 1.5
NAMES_OF_DATABASES = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}
_DAYS = {
    "start_timestamp": (LAST_MOMENT - timedelta(days=90, minutes=7)).isoformat(),
    "end_timestamp": (LAST_MOMENT - timedelta(minutes=11)).isoformat(),
}

progress = Console(stderr=True, highlight=False)


@dataclass(frozen=True)
class Tenant:
    """A workspace with this many customers, events and changes, and its token."""

    token: str
    rows: int


# Lists by name, with their paths; `last` is the position with a page of changes after it.
QUESTIONS = {
    "events": "/api/events/",
    "events by name": f"/api/events/?{urlencode({'name': NAME})}",
    "events of 90 days": f"/api/events/?{urlencode(_DAYS)}",
    "events of 90 days by name": f"/api/events/?{urlencode({'name': NAME, **_DAYS})}",
    "event names": "/api/events/names",
    "customers": "/api/customers/",
    "changes": "/api/changes/?limit=100",
    "changes at the end": "/api/changes/?limit=100&after={last}",
}


@dataclass(frozen=True)
class Growth:
    """Milliseconds for a list of the small workspace, if it has the page, and of the large one."""

    database: str
    name: str
    small: float | None
    large: float

    def check(self, pace: Pace) -> Check:
        where = NAMES_OF_DATABASES[self.database]
        if self.small is None:
            return pace.check(self.name, where, self.large, MOST_MILLISECONDS)
        return Check(self.name, where, [self.large / self.small], most=MOST_GROWTH)

    def row(self, pace: Pace) -> list[str]:
        check = self.check(pace)
        if self.small is None:
            cells = ["", number(self.large), "", *pace.targets(check, MOST_MILLISECONDS, " ms")]
        else:
            cells = [*map(number, (self.small, self.large)), check.figure, check.bound, "", check.verdict]
        return [check.what, check.where, *cells]


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


def measure(
    site: Site, database: str, tenants: Sequence[Tenant], rounds: int, names: Sequence[str]
) -> Iterator[Growth]:
    _, large = tenants
    with servers.gateway(site) as server:
        meter = Meter(site, server)
        for name in names:
            path = QUESTIONS[name]
            asked = [(tenant, path.format(last=write_position(tenant.rows - 100))) for tenant in tenants]
            for each in asked:
                meter.milliseconds(*each)
            both = [[meter.milliseconds(*each) for each in asked] for _ in range(rounds)]
            yield Growth(database, name, *map(median, zip(*both, strict=True)))
        page = min(LATE_PAGE, large.rows // 20)
        for name in [each for each in ("events", "customers") if each in names]:
            times = [meter.milliseconds(large, f"/api/{name}/?page={page}") for _ in range(rounds)]
            yield Growth(database, f"{name}, page {page:,}", None, median(times))


def make_tenants(site: Site, sizes: Sequence[int], names: Sequence[str]) -> list[Tenant]:
    tenants = []
    has_events = any(name.startswith("event") for name in names)
    for rows in sizes:
        progress.print(f"{rows:,} customers, events and changes")
        made = servers.seed(site, sessions=0)
        fill(site, UUID(made["workspace"]["id"]), rows, has_events=has_events)
        tenants.append(Tenant(made["workspace_token"], rows))
    # The rows were copied past the code that keeps the totals.
    servers.run(site, "totals", "rebuild")
    servers.vacuum(site)
    return tenants


def main() -> None:
    sizes, databases = [10_000, 1_000_000], ["postgresql", "sqlite"]
    arguments = options(__doc__, rounds=5, sizes=sizes, databases=databases, only=list(QUESTIONS))
    growths, works = [], []
    for database in arguments.databases:
        with servers.site(database) as site:
            tenants = make_tenants(site, arguments.sizes, arguments.only)
            works += [work_seconds() for _ in range(arguments.rounds)]
            for growth in measure(site, database, tenants, arguments.rounds, arguments.only):
                growths.append(growth)
                progress.print(f"{database}, {growth.name}: {growth.large:.3g} ms")
            works += [work_seconds() for _ in range(arguments.rounds)]
    pace = Pace.of(works, SERVERS)
    times = (f"{size:,} rows, ms" for size in arguments.sizes)
    header = ["list", "database", *times, "growth", "stated target", "target here", ""]
    print(f"{table(header, [each.row(pace) for each in growths])}\n\n{pace}")
    sys.exit(any(not growth.check(pace).is_met for growth in growths))


if __name__ == "__main__":
    main()
