"""Searching 1,000,000 customers by a part of their names and emails, with indexes of trigrams and without.

Run by `make bench ONLY=searching`. Figures are milliseconds of processor time for a request, of server and
database together, also of creating a customer. PostgreSQL is Debian's, which has the extensions. With
`--old DUOGRAPH`, the command of a release that has no indexes is measured first, on the same rows.
Exits with 1 if a target is missed.
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic
from urllib.parse import urlencode
from uuid import UUID, uuid4

from rich.console import Console

from bench.growth_of_lists import NAMES_OF_DATABASES
from bench.growth_rows import DAYS, EXPRESSIONS, LAST_MOMENT, NUMBERS
from bench.kit import servers
from bench.kit.client import Client
from bench.kit.options import options
from bench.kit.processes import processor_seconds
from bench.kit.report import number, table
from bench.kit.servers import Server, Site
from bench.reference import SERVERS, Pace, work_seconds
from storage.engine.database import Database
from storage.searching import making, postgresql
from storage.searching.texts import SEARCHED
from tests.support.servers.postgresql import PostgreSQL, with_contrib

SECONDS, LEAST_CALLS, WRITES = 1.0, 3, 500
FOUND = 100
# On the reference machine.
MOST_MILLISECONDS = 20
PARTS = {
    f"a part that {FOUND} customers have": "zebrafish",
    "a part that all have": "@example.com",
    "a part that one in 36 has": "visitor 7",
    "a part that no customer has": "no such customer",
    "two letters": "vi",
}
CUSTOMERS = """
INSERT INTO customers (created_at, changed_at, workspace_id, id, email, email_folded, email_verified, name,
    name_folded, billing_address, type, metadata)
{numbers} SELECT {moment}, {moment}, '{workspace}', {id}, 'v' || (n * 1999) || '@example.com',
    'v' || (n * 1999) || '@example.com', {false}, {name}, {name}, '{{}}', 'individual', '{{}}'
FROM numbers
"""
NAME = "CASE WHEN n % ({many} / {found}) = 0 THEN 'zebrafish ' ELSE 'visitor ' END || n"


@dataclass(frozen=True)
class Figure:
    """Milliseconds of processor time without the indexes, if that was measured, and with them."""

    database: str
    what: str
    scan: float | None
    indexed: float

    def row(self, pace: Pace) -> list[str]:
        stated = MOST_MILLISECONDS if self.what == next(iter(PARTS)) else None
        check = pace.check(self.what, self.database, self.indexed, stated)
        scan = "" if self.scan is None else number(self.scan)
        where = NAMES_OF_DATABASES[self.database]
        return [self.what, where, scan, number(self.indexed), *pace.targets(check, stated, " ms")]


@contextmanager
def place(database: str) -> Iterator[Site]:
    if database == "sqlite":
        with servers.site(database) as site:
            yield site
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        server = PostgreSQL(folder, servers.free_port(), with_contrib())
        server.create(autovacuum="off", shared_buffers="512MB", max_wal_size="4GB")
        server.start()
        try:
            site = Site(folder, server.url, "", Server(server.url, server.processes()[0]))
            servers.run(site, "migrate")
            yield site
        finally:
            server.stop()


async def fill(site: Site, workspace_id: UUID, many: int) -> None:
    dialect = "postgresql" if site.postgresql else "sqlite"
    values = {
        "many": many,
        "workspace": workspace_id.hex,
        "days": DAYS,
        "last": f"{LAST_MOMENT:%Y-%m-%d %H:%M:%S}",
    }
    made = {name: each.format(**values) for name, each in EXPRESSIONS[dialect].items()}
    name = NAME.format(many=many, found=FOUND)
    database = Database(site.database_url, pool_size=1)
    async with database.write() as connection:
        numbers = NUMBERS.format(many=many)
        await connection.exec_driver_sql(CUSTOMERS.format(numbers=numbers, name=name, **values, **made))
    await database.close()


async def drop_indexes(site: Site) -> None:
    database = Database(site.database_url, pool_size=1)
    async with database.write() as connection:
        if not database.is_sqlite:
            await postgresql.drop(connection)
        for searched in SEARCHED if database.is_sqlite else ():
            for event in ("insert", "update", "delete", "fold"):
                await connection.exec_driver_sql(f"DROP TRIGGER {searched.index}_{event}")
            await connection.exec_driver_sql(f"DROP TABLE {searched.index}")
    await database.close()


async def make_indexes(site: Site) -> None:
    database = Database(site.database_url, pool_size=1)
    await making.make(database, progress.print)
    if not database.is_sqlite:
        async with database.read() as connection:
            await connection.exec_driver_sql("VACUUM ANALYZE")
    await database.close()


def measure(site: Site, token: str, rounds: int) -> dict[str, float]:
    """Milliseconds of processor time for each search, and for creating a customer."""
    with servers.gateway(site) as server:
        client, pids = Client(server.address, token), site.processes(server)

        def used() -> float:
            return sum(map(processor_seconds, pids))

        def search(part: str) -> float:
            before, calls, until = used(), 0, monotonic() + SECONDS
            while calls < LEAST_CALLS or monotonic() < until:
                client.get(f"/api/customers/?{urlencode({'query': part})}")
                calls += 1
            return (used() - before) * 1000 / calls

        def create() -> float:
            before = used()
            for _ in range(WRITES):
                name = uuid4().hex[:12]
                client.post("/api/customers/", {"email": f"{name}@example.com", "name": f"Ada {name}"})
            return (used() - before) * 1000 / WRITES

        times = {}
        for what, part in PARTS.items():
            search(part)
            times[what] = median(search(part) for _ in range(rounds))
            progress.print(f"{what}: {times[what]:.3g} ms")
        create()
        times["creating a customer"] = median(create() for _ in range(rounds))
        progress.print(f"creating a customer: {times['creating a customer']:.3g} ms")
        return times


def measure_old(site: Site, token: str, rounds: int, command: str) -> dict[str, float]:
    own, servers.COMMAND = servers.COMMAND, command
    try:
        return measure(site, token, rounds)
    finally:
        servers.COMMAND = own


def compare(database: str, many: int, rounds: int, old: str) -> Iterator[Figure]:
    with place(database) as site:
        made = servers.seed(site, sessions=0)
        asyncio.run(drop_indexes(site))
        asyncio.run(fill(site, UUID(made["workspace"]["id"]), many))
        servers.run(site, "totals", "rebuild")
        progress.print(f"{database}: {many:,} customers")
        token = made["workspace_token"]
        scans = measure_old(site, token, rounds, old) if old else {}
        asyncio.run(make_indexes(site))
        indexed = measure(site, token, rounds)
        yield from (Figure(database, what, scans.get(what), indexed[what]) for what in indexed)


def main() -> None:
    arguments = options(__doc__, rounds=3, rows=1_000_000, old="", databases=["postgresql", "sqlite"])
    works = [work_seconds() for _ in range(arguments.rounds)]
    figures = [
        figure
        for database in arguments.databases
        for figure in compare(database, arguments.rows, arguments.rounds, arguments.old)
    ]
    pace = Pace.of([*works, *(work_seconds() for _ in range(arguments.rounds))], SERVERS)
    header = ["request", "database", "without, ms", "with, ms", "stated target", "target here", ""]
    rows = [figure.row(pace) for figure in figures]
    print(f"{table(header, rows)}\n\n{pace}")
    sys.exit(any(row[-1] == "MISSED" for row in rows))


progress = Console(stderr=True, highlight=False)

if __name__ == "__main__":
    main()
