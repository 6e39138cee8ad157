"""How many rows and bytes the tables have, as a whole and of one workspace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, literal, select
from sqlalchemy.exc import OperationalError

from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.rows.rows import table_of
from storage.tables.registry import METADATA
from storage.tables.workspaces.totals import ListTotalRow
from storage.workspaces.distribution import COLUMN, read_cluster

# Of one workspace and table: counting goes no further.
MOST_COUNTED = 1_000_000
OF_WORKSPACES = tuple(table for table in METADATA.sorted_tables if COLUMN in table.c)

_totals = table_of(ListTotalRow)
# A row is a cell of a leaf; in a table that is stored by its key, a cell of any page.
_DBSTAT = (
    "SELECT entry.tbl_name, entry.type = 'table', sum(page.pgsize), sum(CASE "
    "WHEN page.pagetype = 'leaf' OR entry.sql LIKE '%WITHOUT ROWID%' THEN page.ncell ELSE 0 END) "
    "FROM dbstat AS page JOIN sqlite_master AS entry ON entry.name = page.name GROUP BY entry.name"
)
_SQLITE_BYTES = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
_POSTGRESQL = (
    "SELECT relname, greatest(reltuples, pg_stat_get_live_tuples(oid), 0)::bigint, "
    "pg_total_relation_size(oid)::bigint "
    "FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
)
_POSTGRESQL_BYTES = "SELECT pg_database_size(current_database())"
# For each shard, `%s` is its name.
_ROWS_OF_SHARD = "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = '%s'::regclass"
_CITUS = (
    "SELECT citus_total_relation_size($1::regclass)::bigint, "
    "(SELECT coalesce(sum(result::bigint), 0)::bigint FROM run_command_on_shards($1::regclass, $2) "
    "WHERE success)"
)


@dataclass(frozen=True)
class TableSize:
    """A table; `bytes` is with its indexes, None if unknown. Of a workspace, both may be estimates."""

    table: str
    rows: int
    bytes: int | None
    is_more: bool = False


@dataclass(frozen=True)
class Sizes:
    """All tables; `method` says how the numbers were found, in a sentence, and `bytes` is of the database."""

    method: str
    bytes: int
    tables: Sequence[TableSize]

    @property
    def bytes_by_row(self) -> Mapping[str, float]:
        return {size.table: size.bytes / size.rows for size in self.tables if size.bytes and size.rows}


async def read_sizes(database: Database) -> Sizes:
    """The sizes of all tables, largest first. SQLite reads the whole file for them."""
    async with database.read() as connection:
        sizes = await (_of_sqlite if database.is_sqlite else _of_postgresql)(connection)
    if not database.is_sqlite:
        sizes = await _with_shards(database, sizes)
    largest_first = sorted(sizes.tables, key=lambda size: (-(size.bytes or 0), -size.rows, size.table))
    return Sizes(sizes.method, sizes.bytes, largest_first)


async def read_workspace(database: Database, workspace_id: UUID, sizes: Sizes) -> list[TableSize]:
    """The rows of a workspace, most bytes first; their bytes are estimated from the table's average row."""
    counted = []
    for table in OF_WORKSPACES:
        rows = select(literal(1)).select_from(table).where(table.c.workspace_id == workspace_id)
        number = select(func.count()).select_from(rows.limit(MOST_COUNTED + 1).subquery())
        async with database.read() as connection:
            found = int((await connection.execute(number)).scalar_one())
        if found:
            by_row = sizes.bytes_by_row.get(table.name)
            many = min(found, MOST_COUNTED)
            bytes_ = None if by_row is None else round(many * by_row)
            counted.append(TableSize(table.name, many, bytes_, is_more=found > MOST_COUNTED))
    return sorted(counted, key=lambda size: (-(size.bytes or 0), -size.rows, size.table))


async def largest_workspaces(database: Database, number: int) -> list[UUID]:
    """The workspaces with the most rows in lists, by the totals that are kept of them."""
    statement = (
        select(_totals.c.workspace_id)
        .where(_totals.c.value == "")
        .group_by(_totals.c.workspace_id)
        .order_by(func.sum(_totals.c.total).desc(), _totals.c.workspace_id)
        .limit(number)
    )
    async with database.read() as connection:
        return list((await connection.execute(statement)).scalars())


async def _of_sqlite(connection: Connection) -> Sizes:
    file_bytes = int((await connection.exec_driver_sql(_SQLITE_BYTES)).scalar_one())
    try:
        pages = (await connection.exec_driver_sql(_DBSTAT)).all()
    except OperationalError:
        tables = [TableSize(name, await _count(connection, name), None) for name in METADATA.tables]
        return Sizes("Rows are counted. This SQLite has no dbstat: bytes are unknown.", file_bytes, tables)
    rows, sizes = dict[str, int](), dict[str, int]()
    for name, is_table, of_pages, cells in pages:
        sizes[name] = sizes.get(name, 0) + of_pages
        if is_table:
            rows[name] = cells
    tables = [TableSize(name, rows[name], sizes[name]) for name in rows]
    return Sizes("Rows and bytes are counted in the pages of the file.", file_bytes, tables)


async def _count(connection: Connection, name: str) -> int:
    number = select(func.count()).select_from(METADATA.tables[name])
    return int((await connection.execute(number)).scalar_one())


async def _of_postgresql(connection: Connection) -> Sizes:
    bytes_ = int((await connection.exec_driver_sql(_POSTGRESQL_BYTES)).scalar_one())
    tables = [TableSize(*row) for row in await connection.exec_driver_sql(_POSTGRESQL)]
    return Sizes("Rows are PostgreSQL's estimates; bytes are measured.", bytes_, tables)


async def _with_shards(database: Database, sizes: Sizes) -> Sizes:
    """The same, with the shards of distributed tables on all nodes."""
    cluster = await read_cluster(database)
    if cluster is None or not cluster.is_distributed:
        return sizes
    tables = []
    async with database.read() as connection:
        for size in sizes.tables:
            if cluster.kinds.get(size.table) != "distributed":
                tables.append(size)
                continue
            values: Any = (size.table, _ROWS_OF_SHARD)
            bytes_, rows = (await connection.exec_driver_sql(_CITUS, values)).one()
            tables.append(TableSize(size.table, rows, bytes_))
    of_tables = sum(size.bytes or 0 for size in tables)
    return Sizes("Rows are PostgreSQL's estimates; bytes are measured on all nodes.", of_tables, tables)
