"""`duograph distribute` against recorded stand-ins for Citus's functions, on plain PostgreSQL."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

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
from tests.support.databases.own_databases import own_database

STAND_INS = Path(__file__).parents[1] / "support" / "servers" / "citus_stand_ins.sql"
KEYS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f'
"""
TENANTS = {name for name, table in METADATA.tables.items() if "workspace_id" in table.primary_key.columns}


@pytest_asyncio.fixture
async def plain(postgresql_url: str, tmp_path: Path) -> Command:
    """A command with a migrated database of its own, without Citus."""
    return Command(tmp_path, {"DUOGRAPH_DATABASE_URL": await own_database(postgresql_url, tmp_path)})


@pytest_asyncio.fixture
async def database(plain: Command) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(plain.settings["DUOGRAPH_DATABASE_URL"].replace("+asyncpg", ""))
    yield connection
    await connection.close()


@pytest_asyncio.fixture
async def cluster(plain: Command, database: asyncpg.Connection) -> Command:
    """A command whose database has the stand-ins and a worker."""
    await database.execute(STAND_INS.read_text())
    await database.execute(
        "INSERT INTO pg_dist_node VALUES (0, 'primary', true, false), (1, 'primary', true, true)"
    )
    return plain


async def kinds(database: asyncpg.Connection) -> dict[str, str]:
    rows = await database.fetch("SELECT table_name::text, citus_table_type FROM distributed")
    return dict(map(tuple, rows))


async def downgrade(command: Command, revision: str) -> None:
    """Take the revisions after this one back, and with them the tables that they made."""
    database = Database(command.settings["DUOGRAPH_DATABASE_URL"])
    async with database.engine.begin() as connection:
        await connection.run_sync(lambda sync: alembic.downgrade(config_of(sync), revision))
    await database.close()


async def keys(database: asyncpg.Connection) -> set[Any]:
    return {tuple(row) for row in await database.fetch(KEYS)}


def what(statement: str) -> str:
    """Which step of the recipe a statement is."""
    steps = (
        "create_reference_table",
        "DROP CONSTRAINT",
        "create_distributed_table",
        "ADD CONSTRAINT",
        "all_nodes",
    )
    (step,) = [step for step in steps if step in statement]
    return step


def test_a_dry_run_prints_the_whole_recipe_in_its_order(plain: Command) -> None:
    statements = plain.json("distribute", "--dry-run", "--shards", "48")["statements"]
    steps = list(dict.fromkeys(map(what, statements)))
    assert steps == [
        "create_reference_table",
        "DROP CONSTRAINT",
        "create_distributed_table",
        "ADD CONSTRAINT",
        "all_nodes",
    ]
    distributed = [text for text in statements if what(text) == "create_distributed_table"]
    assert {text.split("'")[1] for text in distributed} == TENANTS
    first = distributed[0].split("'")[1]
    assert "colocate_with => 'none', shard_count => 48" in distributed[0]
    assert all(f"colocate_with => '{first}'" in text for text in distributed[1:])


async def test_a_dry_run_changes_nothing(cluster: Command, database: asyncpg.Connection) -> None:
    before = await keys(database)
    cluster.json("distribute", "--dry-run")
    assert await kinds(database) == {}
    assert await keys(database) == before


async def test_the_tables_of_workspaces_are_distributed_and_all_foreign_keys_stay(
    cluster: Command, database: asyncpg.Connection
) -> None:
    before = await keys(database)
    result = cluster.json("distribute")
    assert await kinds(database) == {"workspaces": "reference"} | dict.fromkeys(TENANTS, "distributed")
    assert await keys(database) == before
    assert result["shards"] == 32
    where = {table["table"]: table["kind"] for table in result["tables"]}
    assert where.keys() == METADATA.tables.keys()
    assert (where["events"], where["workspaces"], where["users"]) == (
        "distributed",
        "reference",
        "coordinator",
    )
    (option,) = await database.fetchval("SELECT array_agg(command) FROM commands_on_nodes")
    assert option.endswith("SET citus.override_table_visibility = off")


async def test_doing_it_again_does_nothing(cluster: Command) -> None:
    cluster.json("distribute", "--shards", "8")
    assert cluster.json("distribute", "--dry-run")["statements"] == []
    assert cluster.run("distribute", "--dry-run").stdout == "Everything is distributed.\n"
    assert cluster.json("distribute", "--shards", "8")["shards"] == 8
    assert "8 shards already" in cluster.refusal("distribute", "--shards", "16")


async def test_an_interrupted_distribution_goes_on_where_it_ended(
    cluster: Command, database: asyncpg.Connection
) -> None:
    before = await keys(database)
    statements = cluster.json("distribute", "--dry-run")["statements"]
    # In the middle of the tables, when some foreign keys are missing.
    for statement in statements[: len(statements) // 2]:
        await database.execute(statement)
    assert await keys(database) < before
    cluster.json("distribute")
    assert await kinds(database) == {"workspaces": "reference"} | dict.fromkeys(TENANTS, "distributed")
    assert await keys(database) == before


async def test_migrating_a_distributed_database_distributes_what_is_new(
    cluster: Command, database: asyncpg.Connection
) -> None:
    cluster.json("distribute")
    new = {"usage_counts", "workspace_locks"}
    await downgrade(cluster, "0032")
    assert not new & set(await kinds(database))
    cluster.json("migrate")
    assert [(await kinds(database))[name] for name in new] == ["distributed"] * len(new)


async def test_the_doctor_says_what_is_not_distributed(
    cluster: Command, database: asyncpg.Connection
) -> None:
    def said() -> dict[str, Any]:
        checks = cluster.run("doctor", "--json").stdout
        return next(check for check in json.loads(checks)["checks"] if check["name"] == "database")

    def state() -> str:
        """What is said before what is said of searching: the tests' PostgreSQL lacks the extensions."""
        state, _, searching = said()["message"].partition(". ")
        assert searching.startswith("Searching by a part of a text reads every row: install the extensions ")
        return str(state)

    assert state() == "postgresql, at the newest revision"
    cluster.json("distribute")
    assert state() == "postgresql, at the newest revision, distributed in 32 shards"
    await database.execute("DELETE FROM distributed WHERE table_name = 'events'::regclass")
    assert said()["status"] == "failed"
    assert said()["message"] == "events is not distributed: run `duograph distribute`."
    await database.execute("INSERT INTO distributed VALUES ('events', 'distributed', 32)")
    await database.execute("DELETE FROM pg_dist_node WHERE groupid = 0")
    assert "citus_set_coordinator_host" in said()["message"]


async def test_without_citus_or_workers_it_refuses_and_says_what_to_do(
    plain: Command, database: asyncpg.Connection
) -> None:
    assert "CREATE EXTENSION citus" in plain.refusal("distribute")
    await database.execute(STAND_INS.read_text())
    assert "citus_add_node" in plain.refusal("distribute")
    await database.execute("INSERT INTO pg_dist_node VALUES (1, 'primary', true, true)")
    assert "citus_set_coordinator_host" in plain.refusal("distribute")


def test_sqlite_is_refused(command: Command) -> None:
    assert "DUOGRAPH_DATABASE_URL" in command.refusal("distribute")
    assert "DUOGRAPH_DATABASE_URL" in command.refusal("distribute", "--dry-run")


@pytest.mark.parametrize("is_distributed", [False, True])
async def test_a_revision_makes_a_table_with_foreign_keys_where_the_others_are(
    cluster: Command, database: asyncpg.Connection, is_distributed: bool
) -> None:
    if is_distributed:
        cluster.json("distribute")
    before = await kinds(database)

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

    engine = create_async_engine(cluster.settings["DUOGRAPH_DATABASE_URL"])
    async with engine.begin() as connection:
        await connection.run_sync(revise)
    await engine.dispose()
    assert await kinds(database) == before | ({"pages": "distributed"} if is_distributed else {})
    made = {name: definition for table, name, definition in await keys(database) if table == "pages"}
    assert made == {
        "fk_pages_workspace": "FOREIGN KEY (workspace_id) REFERENCES workspaces(id)",
        "fk_pages_share": (
            "FOREIGN KEY (workspace_id, share_id) REFERENCES shares(workspace_id, id) ON DELETE CASCADE"
        ),
    }


async def test_storage_adds_up_the_shards(cluster: Command, database: asyncpg.Connection) -> None:
    cluster.json("distribute")
    await database.execute("ANALYZE")
    answer = cluster.json("storage")
    assert "on all nodes" in answer["method"]
    sizes = {each["table"]: each for each in answer["tables"]}
    assert sizes.keys() >= TENANTS
    assert answer["bytes"] == sum(each["bytes"] for each in sizes.values())
    assert sizes["customers"]["rows"] == 0
    assert sizes["customers"]["bytes"] > 0
