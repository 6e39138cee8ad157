"""Makes many workspaces out of one: each has all rows of the seeded one, under the same ids."""

import asyncio
from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import Table

from bench.kit.servers import Site, fold_all
from storage.engine.database import Database
from storage.tables.registry import METADATA
from storage.workspaces.distribution import COLUMN, TENANT_TABLES

WORKSPACES = "workspaces"
# Workspaces of one statement.
AT_A_TIME = 100


def fill(site: Site, workspaces: int) -> int:
    """Make so many copies of the workspace; the number of facts in all of them."""
    return asyncio.run(_fill(site, workspaces))


async def _fill(site: Site, workspaces: int) -> int:
    database = Database(site.database_url, pool_size=1)
    try:
        await fold_all(database)
        async with database.read() as connection:
            (source,) = (await connection.exec_driver_sql("SELECT id FROM workspaces")).one()
            for begin in range(0, workspaces, AT_A_TIME):
                end = min(begin + AT_A_TIME, workspaces)
                for statement in _statements(source, begin, end):
                    await connection.exec_driver_sql(statement)
            await connection.exec_driver_sql("ANALYZE")
            facts = (await connection.exec_driver_sql("SELECT count(*) FROM metric_facts")).scalar_one()
            return int(facts)
    finally:
        await database.close()


def _statements(source: UUID, begin: int, end: int) -> Iterable[str]:
    numbers = f"generate_series({begin}, {end - 1}) AS n"
    id = f"md5('{source}' || n)::uuid"
    yield _copy(METADATA.tables[WORKSPACES], {"id": id, "slug": "'bench-' || n"}, numbers, f"id = '{source}'")
    for table in TENANT_TABLES:
        yield _copy(table, {COLUMN: id}, numbers, f"{COLUMN} = '{source}'")


def _copy(table: Table, own: dict[str, str], numbers: str, where: str) -> str:
    names = [column.name for column in table.columns]
    columns = ", ".join(f'"{name}"' for name in names)
    values = ", ".join(own.get(name, f'"{name}"') for name in names)
    return f"INSERT INTO {table.name} ({columns}) SELECT {values} FROM {table.name}, {numbers} WHERE {where}"
