"""`duograph distribute`, `migrate`, `doctor` and `storage` on a cluster of Citus."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio
from alembic import command as alembic
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Column, Connection, ForeignKeyConstraint, PrimaryKeyConstraint, Uuid
from sqlalchemy.ext.asyncio import create_async_engine

from storage.engine.database import Database
from storage.migrations.run import config_of
from storage.migrations.tenant_tables import create_tenant_table
from storage.tables.registry import METADATA
from tests.support.commands.command import Command
from tests.support.databases.own_databases import named
from tests.support.servers.citus import Cluster, create_joined

KEYS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype = 'f' AND conrelid::regclass::text = ANY ($1)
"""
TENANTS = {name for name, table in METADATA.tables.items() if "workspace_id" in table.primary_key.columns}
EVERYWHERE = {"workspaces": "reference"} | dict.fromkeys(TENANTS, "distributed")
SHARDS = 4


class Grown:
    """A command whose database has rows, and was half distributed, then in full.

    `before` and `after` are what it had first and then; `interrupted` and `said` are what the doctor and the
    command said meanwhile.
    """

    def __init__(self, command: Command) -> None:
        self.command = command
        self.before: dict[str, Any] = {}
        self.after: dict[str, Any] = {}
        self.interrupted = ""
        self.said = ""


def joined_command(citus: Cluster, folder: Path) -> Command:
    """A command with a migrated database on a coordinator with two workers."""
    name = f"own_{uuid4().hex}"
    create_joined(citus.nodes, name)
    return Command(folder, {"DUOGRAPH_DATABASE_URL": named(citus.url, name)}, seconds=None)


@asynccontextmanager
async def asking(command: Command) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(command.settings["DUOGRAPH_DATABASE_URL"].replace("+asyncpg", ""))
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
def fresh(citus: Cluster, tmp_path: Path) -> Command:
    """A command with a database of its own, of which nothing is distributed."""
    return joined_command(citus, tmp_path)


@pytest_asyncio.fixture(scope="module")
async def grown(citus: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Grown:
    grown = Grown(joined_command(citus, tmp_path_factory.mktemp("grown")))
    grown.command.json("seed", "--sessions", "30")
    statements = grown.command.json("distribute", "--dry-run", "--shards", str(SHARDS))["statements"]
    async with asking(grown.command) as database:
        grown.before = {"keys": await keys(database), "rows": await rows(database)}
        tables = [number for number, text in enumerate(statements) if "create_distributed_table" in text]
        for statement in statements[: tables[len(tables) // 2]]:
            await database.execute(statement)
        assert await keys(database) < grown.before["keys"]
    grown.interrupted = checked(grown.command)["message"]
    ended = grown.command.run("distribute")
    assert ended.status == 0, ended.stderr
    grown.said = ended.stderr
    async with asking(grown.command) as database:
        grown.after = {"keys": await keys(database), "rows": await rows(database)}
    return grown


@pytest_asyncio.fixture
async def database(grown: Grown) -> AsyncIterator[asyncpg.Connection]:
    async with asking(grown.command) as connection:
        yield connection


async def kinds(database: asyncpg.Connection) -> dict[str, str]:
    asked = "SELECT table_name::text, citus_table_type FROM citus_tables WHERE citus_table_type <> 'local'"
    return dict(map(tuple, await database.fetch(asked)))


async def keys(database: asyncpg.Connection) -> set[Any]:
    """The foreign keys of our tables; Citus gives copies of them to shards on the coordinator."""
    return {tuple(row) for row in await database.fetch(KEYS, [*METADATA.tables, "pages"])}


async def rows(database: asyncpg.Connection) -> dict[str, Any]:
    """How many rows each table has, and a sum that differs if any of them does."""
    sums = {}
    for name in METADATA.tables:
        # Rows with equal hashes do not cancel each other out.
        asked = f"SELECT count(*), sum(hashtextextended({name}::text, 0)::numeric) FROM {name}"
        sums[name] = tuple(await database.fetchrow(asked))
    return sums


def checked(command: Command) -> dict[str, Any]:
    """What the doctor says of the database."""
    checks = json.loads(command.run("doctor", "--json").stdout)["checks"]
    return next(check for check in checks if check["name"] == "database")


def progress(said: str) -> Iterator[tuple[int, int]]:
    """How many rows were done before each table, and how many there were to copy."""
    for line in said.splitlines():
        _, mark, comment = line.partition("; ")
        if line.startswith("SELECT create_distributed_table") and " rows" in comment and mark:
            done, _, total = comment.partition(" rows; ")[2].partition(" are done")[0].partition(" of ")
            yield int(done.replace(",", "")), int(total.replace(",", ""))


async def test_all_rows_and_foreign_keys_are_there_after_an_interrupted_distribution(
    grown: Grown, database: asyncpg.Connection
) -> None:
    assert await kinds(database) == EVERYWHERE
    assert grown.after == grown.before


async def test_the_coordinator_keeps_no_copy_of_the_rows(database: asyncpg.Connection) -> None:
    sizes = dict(
        map(
            tuple,
            await database.fetch(
                "SELECT relname::text, pg_relation_size(oid) FROM pg_class WHERE relname = ANY ($1)",
                list(TENANTS),
            ),
        )
    )
    assert sizes == dict.fromkeys(TENANTS, 0)


def test_each_step_tells_how_many_rows_are_left(grown: Grown) -> None:
    steps = list(progress(grown.said))
    assert len(steps) > 2
    assert steps == sorted(steps)
    total = steps[0][1]
    assert {all_rows for _, all_rows in steps} == {total}
    assert 0 <= steps[-1][0] < total


def test_the_doctor_says_what_an_interruption_left(grown: Grown) -> None:
    assert "is not distributed" in grown.interrupted
    assert "lacks the foreign key" in grown.interrupted
    assert "run `duograph distribute`" in grown.interrupted
    assert f"distributed in {SHARDS} shards" in checked(grown.command)["message"]


def test_doing_it_again_does_nothing(grown: Grown) -> None:
    command = grown.command
    assert command.json("distribute", "--dry-run")["statements"] == []
    assert command.run("distribute", "--dry-run").stdout == "Everything is distributed.\n"
    result = command.json("distribute", "--shards", str(SHARDS))
    assert result["shards"] == SHARDS
    where = {table["table"]: table["kind"] for table in result["tables"]}
    assert where.keys() == METADATA.tables.keys()
    places = {name: where[name] for name in ("events", "workspaces", "users")}
    assert places == {"events": "distributed", "workspaces": "reference", "users": "coordinator"}
    assert f"{SHARDS} shards already" in command.refusal("distribute", "--shards", "16")


async def test_storage_adds_up_the_shards(grown: Grown, database: asyncpg.Connection) -> None:
    await database.execute("ANALYZE")
    answer = grown.command.json("storage")
    assert "on all nodes" in answer["method"]
    sizes = {each["table"]: each for each in answer["tables"]}
    assert sizes.keys() >= TENANTS
    assert answer["bytes"] == sum(each["bytes"] for each in sizes.values())
    assert sizes["customers"]["rows"] == grown.before["rows"]["customers"][0]
    assert sizes["customers"]["bytes"] > 0


async def test_migrating_a_distributed_database_distributes_what_is_new(
    grown: Grown, database: asyncpg.Connection
) -> None:
    new = {"usage_counts", "workspace_locks"}
    old = Database(grown.command.settings["DUOGRAPH_DATABASE_URL"])
    async with old.engine.begin() as connection:
        await connection.exec_driver_sql("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")
        await connection.run_sync(lambda sync: alembic.downgrade(config_of(sync), "0032"))
    await old.close()
    assert not new & set(await kinds(database))
    grown.command.json("migrate")
    assert [(await kinds(database))[name] for name in new] == ["distributed"] * len(new)


async def test_a_revision_makes_a_table_with_foreign_keys_where_the_others_are(
    grown: Grown, database: asyncpg.Connection
) -> None:
    def revise(connection: Connection) -> None:
        with Operations.context(MigrationContext.configure(connection)):
            create_tenant_table(
                "pages",
                Column("workspace_id", Uuid(), nullable=False),
                Column("id", Uuid(), nullable=False),
                Column("share_id", Uuid(), nullable=False),
                ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name="fk_pages_workspace"),
                ForeignKeyConstraint(
                    ["workspace_id", "share_id"],
                    ["shares.workspace_id", "shares.id"],
                    name="fk_pages_share",
                    ondelete="CASCADE",
                ),
                PrimaryKeyConstraint("workspace_id", "id", name="pk_pages"),
            )

    engine = create_async_engine(grown.command.settings["DUOGRAPH_DATABASE_URL"])
    async with engine.begin() as connection:
        await connection.run_sync(revise)
    await engine.dispose()
    assert (await kinds(database))["pages"] == "distributed"
    made = {name: definition for table, name, definition in await keys(database) if table == "pages"}
    await database.execute("DROP TABLE pages")
    assert made == {
        "fk_pages_workspace": "FOREIGN KEY (workspace_id) REFERENCES workspaces(id)",
        "fk_pages_share": (
            "FOREIGN KEY (workspace_id, share_id) REFERENCES shares(workspace_id, id) ON DELETE CASCADE"
        ),
    }


async def test_a_cluster_without_its_coordinator_or_workers_is_refused(fresh: Command) -> None:
    async with asking(fresh) as database:
        port = await database.fetchval("SELECT nodeport FROM pg_dist_node WHERE groupid = 0")
        await database.execute("SELECT citus_remove_node('127.0.0.1', $1)", port)
        assert "citus_set_coordinator_host" in fresh.refusal("distribute")
        workers = await database.fetch("SELECT nodename, nodeport FROM pg_dist_node")
        for worker in workers:
            await database.execute("SELECT citus_remove_node($1, $2)", *worker)
        assert "citus_add_node" in fresh.refusal("distribute")
        assert await kinds(database) == {}


async def test_a_dry_run_changes_nothing(fresh: Command) -> None:
    async with asking(fresh) as database:
        before = await keys(database)
        fresh.json("distribute", "--dry-run")
        assert await kinds(database) == {}
        assert await keys(database) == before
