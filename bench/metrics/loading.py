"""Make a database of one size: raw rows in bulk, then the log from them by SQL, then indexes."""

from collections.abc import Callable
from random import Random
from uuid import UUID

from sqlalchemy import Executable, text
from sqlalchemy.schema import AddConstraint, CreateIndex, DropConstraint, DropIndex, ExecutableDDLElement

from bench.metrics.activity import CUSTOMERS, Row, activity
from bench.metrics.raw_tables import TABLES, create_indexes, create_tables, insert_facts
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.migrations.run import upgrade
from storage.rows.rows import insert_rows, table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.metrics.metrics import MetricFactRow
from storage.tables.shares.shares import ShareRow
from storage.tables.workspaces.workspaces import WorkspaceRow

_facts = table_of(MetricFactRow)
_random = Random(1)
WORKSPACE_ID = UUID(int=_random.getrandbits(128), version=4)
SHARE_IDS = [UUID(int=_random.getrandbits(128), version=4) for _ in range(200)]
CUSTOMER_IDS = [UUID(int=_random.getrandbits(128), version=4) for _ in range(CUSTOMERS)]

# Called with the current step.
Progress = Callable[[str], None]


async def load(address: str, many: int, progress: Progress) -> None:
    """Make a database with `many` sessions and events. If this is interrupted, nothing in it is of use."""
    database = Database(address)
    await upgrade(database)
    async with database.write() as connection:
        await insert_tenant(connection)
    async with database.read() as connection:
        if database.is_sqlite:
            await _make_fast(connection)
        await connection.begin(writes=True, repeatable=False)
        progress("inserting rows")
        await _insert_rows(connection, many)
        await _index_rows_and_write_log(connection, progress)
        await connection.commit()
        progress("analyzing")
        await analyze(connection)
    await database.close()


async def insert_tenant(connection: Connection) -> None:
    """The workspace with its shares and customers."""
    await insert_rows(connection, WorkspaceRow, [{"id": WORKSPACE_ID, "name": "Bench", "slug": "bench"}])
    shares = [{"workspace_id": WORKSPACE_ID, "id": id, "name": f"Share {id}"} for id in SHARE_IDS]
    await insert_rows(connection, ShareRow, shares)
    customers = [
        {"workspace_id": WORKSPACE_ID, "id": id, "person": person, "email": f"{person}@example.com"}
        for person, id in enumerate(CUSTOMER_IDS, 1)
    ]
    await insert_rows(connection, CustomerRow, customers)


async def _make_fast(connection: Connection) -> None:
    """Turn off durability: a database in the making may be lost."""
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-1000000", "threads=2"):
        await connection.exec_driver_sql(f"PRAGMA {pragma}")


async def _insert_rows(connection: Connection, many: int) -> None:
    dialect = connection.dialect.name
    for statement in create_tables(dialect, WORKSPACE_ID):
        await connection.exec_driver_sql(statement)
    shares = SHARE_IDS if dialect == "postgresql" else [id.hex for id in SHARE_IDS]
    for batch in activity(many, shares):
        for table in TABLES:
            await _bulk(connection, table, getattr(batch, table))


async def _bulk(connection: Connection, table: str, rows: list[Row]) -> None:
    columns = [column.split()[0] for column in TABLES[table].split(", ")]
    if connection.dialect.name == "postgresql":
        await connection.driver.copy_records_to_table(f"raw_{table}", records=rows, columns=columns)
    elif rows:
        places = ", ".join("?" * len(columns))
        into = f"raw_{table} ({', '.join(columns)})"
        await connection.exec_driver_sql(f"INSERT INTO {into} VALUES ({places})", rows)


async def _index_rows_and_write_log(connection: Connection, progress: Progress) -> None:
    """Runs in the transaction that created the tables, so that PostgreSQL writes them only once."""
    dialect = connection.dialect.name
    before: list[ExecutableDDLElement] = [DropIndex(index) for index in _facts.indexes]
    after: list[ExecutableDDLElement] = [CreateIndex(index) for index in _facts.indexes]
    if dialect == "postgresql":
        await connection.exec_driver_sql("TRUNCATE metric_facts")
        before.append(DropConstraint(_facts.primary_key))
        after.append(AddConstraint(_facts.primary_key))
    for statement in before:
        await connection.execute(statement)
    steps: list[tuple[str, list[Executable]]] = [
        ("indexing rows", [text(statement) for statement in create_indexes(dialect)]),
        ("writing facts", [text(statement) for statement in insert_facts(dialect)]),
        ("indexing facts", [*after]),
    ]
    for doing, statements in steps:
        progress(doing)
        for step in statements:
            await connection.execute(step)


async def analyze(connection: Connection) -> None:
    """Collect the planner's statistics: on PostgreSQL as autovacuum would, on SQLite for the raw rows only.

    In production nothing analyzes the product's tables on SQLite, so they are measured without statistics.
    """
    if connection.dialect.name == "postgresql":
        await connection.exec_driver_sql("VACUUM (ANALYZE)")
        return
    for table in TABLES:
        await connection.exec_driver_sql(f"ANALYZE raw_{table}")
