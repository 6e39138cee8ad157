"""Distributing the tables over a Citus cluster: every workspace is on one node, with all of its rows.

Tables whose key has `workspace_id` are distributed by it. `workspaces`, which they refer to, is copied to
every node. The rest stays on the coordinator, where each request looks one credential up by its key.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ForeignKeyConstraint, Table, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import AddConstraint, DropConstraint

from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.operator_errors import OperatorError
from storage.tables.registry import METADATA

REFERENCE = "workspaces"
COLUMN = "workspace_id"
SHARDS = 32
MEGABYTE = 1_000_000
# In the order of their foreign keys.
TENANT_TABLES = tuple(table for table in METADATA.sorted_tables if COLUMN in table.primary_key.columns)
# Without it, looking up a type takes seconds on a cluster, and asyncpg does so on each new connection.
OPTION, OPTION_VALUE = "citus.override_table_visibility", "off"
HAS_CITUS = "SELECT to_regclass('pg_dist_node') IS NOT NULL"
IS_CLUSTER = Kept(text(HAS_CITUS))

_DIALECT: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
_TENANT_NAMES = frozenset(table.name for table in TENANT_TABLES)
_WORKERS = (
    "SELECT count(*) FROM pg_dist_node "
    "WHERE groupid <> 0 AND noderole = 'primary' AND isactive AND shouldhaveshards"
)
_COORDINATORS = "SELECT count(*) FROM pg_dist_node WHERE groupid = 0 AND noderole = 'primary'"
# As the view `citus_tables` tells it, which would wait for all tables that are locked, for their sizes.
_KINDS = """
    SELECT logicalrelid::text,
        CASE WHEN partmethod = 'h' THEN 'distributed' WHEN repmodel = 't' THEN 'reference' ELSE 'local' END,
        (SELECT count(*) FROM pg_dist_shard AS s WHERE s.logicalrelid = p.logicalrelid)
    FROM pg_dist_partition AS p
"""
_FOREIGN_KEYS = "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'f'"
# The bytes of a table's rows on the coordinator itself.
_LOCAL_BYTES = (
    "SELECT relname::text, pg_relation_size(oid) FROM pg_class WHERE oid = ANY ($1::text[]::regclass[])"
)
# The rows that have arrived on nodes by the statement that distributes a table now.
_ARRIVED = """
    SELECT coalesce(sum(result::bigint), 0)::bigint FROM run_command_on_all_nodes($$
        SELECT coalesce(sum(tuples_processed), 0) FROM pg_stat_progress_copy
        WHERE datname = current_database()
    $$) WHERE success
"""
_OPTION_IS_SET = "SELECT coalesce(bool_and(success AND result = $1), false) FROM run_command_on_all_nodes($2)"


class NotDistributable(OperatorError):
    """Why the database cannot be distributed, and what to do."""


@dataclass(frozen=True)
class Cluster:
    """What is where now.

    `kinds` has "distributed", "reference" or "local" for each table that Citus knows; `foreign_keys` has the
    table and name of each; `shards` is how many shards each distributed table has, None before there are any.
    `copied` are the distributed tables whose rows still take space on the coordinator, where nothing reads
    them, with their bytes.
    """

    database: str
    kinds: dict[str, str]
    foreign_keys: frozenset[tuple[str, str]]
    shards: int | None
    has_option: bool
    has_coordinator: bool = True
    copied: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_distributed(self) -> bool:
        """Whether somebody has begun to distribute it."""
        return self.kinds.get(REFERENCE) == "reference"

    @property
    def undistributed(self) -> list[Table]:
        return [table for table in TENANT_TABLES if self.kinds.get(table.name) != "distributed"]

    @property
    def missing_keys(self) -> list[ForeignKeyConstraint]:
        return [key for key in _keys_among_tenants() if not self.has(key)]

    def has(self, key: ForeignKeyConstraint) -> bool:
        return (key.table.name, _name_of(key)) in self.foreign_keys

    def deviations(self) -> Iterator[str]:
        """Yield what differs from a fully distributed database, one sentence each."""
        if self.kinds.get(REFERENCE) != "reference":
            yield f"{REFERENCE} is not a reference table"
        for table in self.undistributed:
            yield f"{table.name} is not distributed"
        for key in self.missing_keys:
            yield f"{key.table.name} lacks the foreign key {_name_of(key)}"
        if not self.has_coordinator:
            yield "the coordinator is not among the nodes (SELECT citus_set_coordinator_host('host', 5432))"
        if not self.has_option:
            yield f"{OPTION} is not {OPTION_VALUE} on every node"
        if self.copied:
            size = sum(self.copied.values()) / MEGABYTE
            yield f"{size:,.1f} MB of rows that were copied to the nodes are on the coordinator still"


@dataclass(frozen=True)
class Step:
    """A statement of the distribution. It copies all rows of `table`, if there is one, to the nodes."""

    statement: str
    table: str | None = None


async def read_cluster(database: Database) -> Cluster | None:
    """What is where; None if the database is not PostgreSQL with Citus."""
    if database.is_sqlite:
        return None
    async with database.read() as connection:
        if not await _value(connection, HAS_CITUS):
            return None
        return await _read(connection)


async def plan(database: Database, shards: int | None = None) -> list[Step]:
    """The statements that are left to do, in their order. Raises `NotDistributable`.

    A database without Citus gets all statements: what to expect of a cluster.
    """
    if database.is_sqlite:
        raise NotDistributable("SQLite cannot be distributed: set DUOGRAPH_DATABASE_URL to PostgreSQL.")
    cluster = await read_cluster(database)
    if cluster is None:
        async with database.read() as connection:
            keys = await _foreign_keys(connection)
            name = str(await _value(connection, "SELECT current_database()"))
        cluster = Cluster(name, {}, keys, None, has_option=False)
    if shards is not None and cluster.shards is not None and cluster.shards != shards:
        raise NotDistributable(
            f"The tables have {cluster.shards} shards already: leave out --shards, or change the number with "
            "Citus's alter_distributed_table."
        )
    return list(_steps(cluster, cluster.shards or shards or SHARDS))


async def check_cluster(database: Database) -> None:
    """Raises `NotDistributable` without Citus or without nodes to distribute to."""
    async with database.read() as connection:
        if not await _value(connection, HAS_CITUS):
            raise NotDistributable(
                "The database has no Citus: install it on every node, and run `CREATE EXTENSION citus`."
            )
        if not await _value(connection, _WORKERS):
            raise NotDistributable(
                "The cluster has no workers: add each with `SELECT citus_add_node('host', 5432)`."
            )
        if not await _value(connection, _COORDINATORS):
            # `workspaces` would have no copy there: each look-up of a credential would ask a worker.
            raise NotDistributable(
                "The cluster does not know its coordinator: name the address at which the workers reach it "
                "by `SELECT citus_set_coordinator_host('host', 5432)`."
            )


async def distribute(database: Database, shards: int | None = None) -> AsyncIterator[Step]:
    """Run what is left to do; yields each step before it runs. Raises `NotDistributable`.

    Each statement commits by itself. After an interruption, doing it again goes on where it ended.
    """
    steps = await plan(database, shards)
    await check_cluster(database)
    async with database.read() as connection:
        for step in steps:
            yield step
            await connection.exec_driver_sql(step.statement)


async def count_rows(database: Database, tables: Iterable[str]) -> dict[str, int]:
    """How many rows each of the tables has."""
    async with database.read() as connection:
        return {name: await _value(connection, f"SELECT count(*) FROM {name}") for name in tables}  # noqa: S608


async def count_arrived(database: Database) -> int:
    """How many rows the step that runs now has copied to nodes."""
    async with database.read() as connection:
        return int(await _value(connection, _ARRIVED))


async def distribute_new_tables(database: Database) -> None:
    """Distribute what revisions have added, if the database is distributed."""
    cluster = await read_cluster(database)
    if cluster is not None and cluster.is_distributed:
        async for _ in distribute(database):
            pass


def _steps(cluster: Cluster, shards: int) -> Iterator[Step]:
    undistributed = cluster.undistributed
    names = {table.name for table in undistributed}
    # Citus refuses to distribute a table while one that is not distributed refers to it, in either order.
    in_the_way = [
        key
        for key in _keys_among_tenants()
        if cluster.has(key) and {key.table.name, key.referred_table.name} & names
    ]
    if cluster.kinds.get(REFERENCE) != "reference":
        yield Step(f"SELECT create_reference_table('{REFERENCE}')", REFERENCE)
    for key in in_the_way:
        yield Step(_sql(DropConstraint(key)))
    first = next((table.name for table in TENANT_TABLES if table.name not in names), None)
    for table in undistributed:
        beside = f"'{first}'" if first else f"'none', shard_count => {shards}"
        statement = f"SELECT create_distributed_table('{table.name}', '{COLUMN}', colocate_with => {beside})"
        yield Step(statement, table.name)
        first = first or table.name
    # Before the foreign keys are there again: it would free all tables that refer to it, too.
    for name in [*cluster.copied, *(table.name for table in undistributed)]:
        yield Step(f"SELECT truncate_local_data_after_distributing_table('{name}')")
    for key in [*in_the_way, *cluster.missing_keys]:
        yield Step(_sql(AddConstraint(key)))
    if not cluster.has_option:
        option = f'ALTER DATABASE "{cluster.database}" SET {OPTION} = {OPTION_VALUE}'
        yield Step(f"SELECT * FROM run_command_on_all_nodes($${option}$$)")  # noqa: S608


def _keys_among_tenants() -> Iterator[ForeignKeyConstraint]:
    for table in TENANT_TABLES:
        keys = (key for key in table.foreign_key_constraints if key.referred_table.name in _TENANT_NAMES)
        yield from sorted(keys, key=_name_of)


async def _read(connection: Connection) -> Cluster:
    tables = (await connection.exec_driver_sql(_KINDS)).all()
    kinds = {name: kind for name, kind, _ in tables}
    shards = next((count for name, _, count in tables if name in _TENANT_NAMES and count), None)
    has_option = await _value(connection, _OPTION_IS_SET, (OPTION_VALUE, f"SHOW {OPTION}"))
    name = str(await _value(connection, "SELECT current_database()"))
    has_coordinator = bool(await _value(connection, _COORDINATORS))
    distributed = [name for name in _TENANT_NAMES if kinds.get(name) == "distributed"]
    sizes = (await connection.exec_driver_sql(_LOCAL_BYTES, (distributed,))).all()
    return Cluster(
        name,
        kinds,
        await _foreign_keys(connection),
        shards,
        bool(has_option),
        has_coordinator=has_coordinator,
        copied={name: size for name, size in sorted(sizes) if size},
    )


async def _foreign_keys(connection: Connection) -> frozenset[tuple[str, str]]:
    rows = (await connection.exec_driver_sql(_FOREIGN_KEYS)).all()
    return frozenset((str(table), str(name)) for table, name in rows)


async def _value(connection: Connection, statement: str, values: Any = None) -> Any:
    return (await connection.exec_driver_sql(statement, values)).scalar_one()


def _sql(statement: AddConstraint | DropConstraint) -> str:
    return " ".join(str(statement.compile(dialect=_DIALECT)).split())


def _name_of(key: ForeignKeyConstraint) -> str:
    """The key's name in the database, which PostgreSQL's limit of 63 characters may have shortened."""
    return str(_DIALECT.identifier_preparer.format_constraint(key)).strip('"')
