"""What one machine carries, for the stages of docs/deploy.md: `python -m bench.capacity`.

Requests per second through 32 connections, with the client on the same machine, and the bytes that a million
events take, with the facts and sums that metrics are read from. `python -m bench.page capacity` writes the
table into the page.
"""

import sqlite3
from collections import defaultdict
from contextlib import closing

from rich.console import Console

from bench.kit import servers, wrk
from bench.kit.client import Client
from bench.kit.measuring import PAUSE_BETWEEN_FOLDS, settle
from bench.kit.options import options
from bench.kit.processes import machine, versions
from bench.kit.report import number, table
from bench.kit.requests import EVENTS, NEW_CUSTOMER
from bench.kit.servers import Site
from bench.kit.wrk import Request

# As in production: every request is charged and logged.
PRODUCTION = {"DUOGRAPH_RATE_LIMIT": "1000000000", "DUOGRAPH_ACCESS_LOG": "true"}
EVENTS_IN_A_CALL = 100
SECONDS_IN_A_DAY = 86_400
MILLION = 1_000_000
MOST_SECONDS_TO_FOLD = 300
LIST, CREATE = Request("GET", "/api/shares/?limit=10"), Request("POST", "/api/customers/", NEW_CUSTOMER)
INGEST = Request("POST", "/api/events/ingest", EVENTS)

progress = Console(stderr=True, highlight=False)


def measure(site: Site, workers: int, seconds: float) -> tuple[list[float], float]:
    """Lists, new customers and events per second, and the bytes by which an event made the database grow."""
    log, many = site.folder / "access.log", ("--workers", str(workers))
    with servers.gateway(site, log=log, options=many, **PRODUCTION) as server:
        client = Client(server.address, site.token)
        rates = [wrk.run(server.address, site.token, each, seconds).rate for each in (LIST, CREATE)]
        size, before = size_of(site), events_in(client)
        rates.append(wrk.run(server.address, site.token, INGEST, seconds).rate * EVENTS_IN_A_CALL)
        settle(site.processes(server), PAUSE_BETWEEN_FOLDS, MOST_SECONDS_TO_FOLD)
        return rates, (size_of(site) - size) / (events_in(client) - before)


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


def main() -> None:
    seconds = options(__doc__, seconds=20.0).seconds
    wrk.require_wrk()
    rows, growths = [], defaultdict(list)
    for database in ("sqlite", "postgresql"):
        for workers in (1, 2):
            with servers.site(database) as site:
                rates, growth = measure(site, workers, seconds)
                on_sqlite = f"SQLite {sqlite3.sqlite_version}"
                name = servers.postgresql_version(site) if site.postgresql else on_sqlite
            a_day = f"{number(rates[-1] * SECONDS_IN_A_DAY / MILLION)} million"
            rows.append([name, str(workers), *map(number, rates), a_day])
            growths[name].append(growth)
            progress.print(f"{' | '.join(rows[-1])}: {growth:.0f} bytes an event")
    header = ["database", "processes", "lists of 10 shares/s", "new customers/s", "events/s", "events a day"]
    print(f"{versions()}; {machine()}.\n\n{table(header, rows)}\n")
    sizes = [
        [name, *(f"{number(each * MILLION / 2**20)} MiB" for each in (min(growth), max(growth)))]
        for name, growth in growths.items()
    ]
    print(table(["database", "a million events, least", "most"], sizes))


if __name__ == "__main__":
    main()
