"""What one machine carries, for the stages of docs/deploy.md: `python -m bench.capacity`.

Requests per second through 32 connections, with the client on the same machine, and the bytes that a million
events take, with the facts and sums that metrics are read from. `python -m bench.page capacity` writes the
table into the page.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from rich.console import Console

from bench import servers, wrk
from bench.client import Client
from bench.measuring import PAUSE_BETWEEN_FOLDS, settle
from bench.options import options
from bench.processes import machine, versions
from bench.report import number, table
from bench.requests import EVENTS, NEW_CUSTOMER
from bench.servers import Site
from bench.wrk import Request

# As in production: every request is charged and logged.
PRODUCTION = {"DUOGRAPH_RATE_LIMIT": "1000000000", "DUOGRAPH_ACCESS_LOG": "true"}
EVENTS_IN_A_CALL = 100
SECONDS_IN_A_DAY = 86_400
MILLION = 1_000_000
MOST_SECONDS_TO_FOLD = 300
LIST, CREATE = Request("GET", "/api/shares/?limit=10"), Request("POST", "/api/customers/", NEW_CUSTOMER)
INGEST = Request("POST", "/api/events/ingest", EVENTS)

progress = Console(stderr=True, highlight=False)


@dataclass(frozen=True)
class Capacity:
    """Requests and events per second of one database with a number of processes."""

    database: str
    workers: int
    lists: float
    changes: float
    events: float

    @property
    def cells(self) -> list[str]:
        a_day = self.events * SECONDS_IN_A_DAY / MILLION
        rates = [number(rate) for rate in (self.lists, self.changes, self.events)]
        return [self.database, str(self.workers), *rates, f"{number(a_day)} million"]


def measure(site: Site, workers: int, seconds: float) -> tuple[Capacity, float]:
    """The capacity, and the bytes by which an event made the database grow."""
    options = ("--workers", str(workers))
    log = site.folder / "access.log"
    with servers.gateway(site, log=log, options=options, **PRODUCTION) as server:
        client = Client(server.address, site.token)
        lists, changes = (wrk.run(server.address, site.token, each, seconds).rate for each in (LIST, CREATE))
        size, before = size_of(site), events_in(client)
        events = wrk.run(server.address, site.token, INGEST, seconds).rate * EVENTS_IN_A_CALL
        settle(site.processes(server), PAUSE_BETWEEN_FOLDS, MOST_SECONDS_TO_FOLD)
        grown, made = size_of(site) - size, events_in(client) - before
    database = servers.postgresql_version(site) if site.postgresql else f"SQLite {sqlite3.sqlite_version}"
    return Capacity(database, workers, lists, changes, events), grown / made


def events_in(client: Client) -> int:
    total: int = client.get("/api/events/?limit=1")["meta"]["total"]
    return total


def size_of(site: Site) -> int:
    """Bytes of the database, without rows that were replaced."""
    servers.vacuum(site)
    if site.postgresql is not None:
        printed = servers.psql(site, "SELECT 'bytes=' || pg_database_size(current_database())")
        return int(printed.partition("bytes=")[2].split()[0])
    file = site.folder / "duograph.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file.stat().st_size


def capacities(seconds: float) -> Iterator[tuple[Capacity, float]]:
    for database in ("sqlite", "postgresql"):
        for workers in (1, 2):
            with servers.site(database) as site:
                figures, growth = measure(site, workers, seconds)
                progress.print(f"{' | '.join(figures.cells)}: {growth:.0f} bytes an event")
                yield figures, growth


def main() -> None:
    seconds = options(__doc__, seconds=20.0).seconds
    wrk.require_wrk()
    figures = list(capacities(seconds))
    header = ["database", "processes", "lists of 10 shares/s", "new customers/s", "events/s", "events a day"]
    print(f"{versions()}; {machine()}.\n")
    print(table(header, [each.cells for each, _ in figures]))
    by_database: dict[str, list[float]] = {}
    for each, growth in figures:
        by_database.setdefault(each.database, []).append(growth)
    print()
    sizes = [
        [database, *(f"{number(least * MILLION / 2**20)} MiB" for least in (min(growth), max(growth)))]
        for database, growth in by_database.items()
    ]
    print(table(["database", "a million events, least", "most"], sizes))


if __name__ == "__main__":
    main()
