"""`duograph distribute` where there is no cluster; `tests/cluster/distributing.py` has the rest."""

from pathlib import Path
from typing import Any

import asyncpg
import pytest
import pytest_asyncio
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Column, Connection, ForeignKeyConstraint, PrimaryKeyConstraint, Uuid
from sqlalchemy.ext.asyncio import create_async_engine

from gateway.cli.upkeep import distribute
from gateway.cli.upkeep.distribute import Copying
from storage.migrations.tenant_tables import create_tenant_table
from storage.tables.registry import METADATA
from tests.support.commands.command import Command
from tests.support.databases.own_databases import own_database

TENANTS = {name for name, table in METADATA.tables.items() if "workspace_id" in table.primary_key.columns}


@pytest_asyncio.fixture
async def plain(postgresql_url: str, tmp_path: Path) -> Command:
    """A command with a migrated database of its own, without Citus."""
    return Command(tmp_path, {"DUOGRAPH_DATABASE_URL": await own_database(postgresql_url, tmp_path)})


def what(statement: str) -> str:
    """Which step of the recipe a statement is."""
    steps = (
        "create_reference_table",
        "DROP CONSTRAINT",
        "create_distributed_table",
        "truncate_local_data",
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
        "truncate_local_data",
        "ADD CONSTRAINT",
        "all_nodes",
    ]
    distributed = [text for text in statements if what(text) == "create_distributed_table"]
    assert {text.split("'")[1] for text in distributed} == TENANTS
    first = distributed[0].split("'")[1]
    assert "colocate_with => 'none', shard_count => 48" in distributed[0]
    assert all(f"colocate_with => '{first}'" in text for text in distributed[1:])


async def test_without_citus_it_refuses_and_says_what_to_do(plain: Command) -> None:
    assert "CREATE EXTENSION citus" in plain.refusal("distribute")
    assert "at the newest revision" in plain.run("doctor").stdout
    assert "not distributed" in plain.refusal("workspaces", "move", "acme", "worker-2")


def test_sqlite_is_refused(command: Command) -> None:
    assert "DUOGRAPH_DATABASE_URL" in command.refusal("distribute")
    assert "DUOGRAPH_DATABASE_URL" in command.refusal("distribute", "--dry-run")
    assert "not distributed" in command.refusal("workspaces", "move", "acme", "worker-2")


def test_each_step_says_how_many_rows_it_copies_and_how_long_the_rest_will_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(distribute, "monotonic", lambda: 110.0)
    copying = Copying({"customers": 1_000, "shares": 0, "events": 3_000}, began=100.0)
    comments = []
    for table in ("customers", "shares", None, "events", None):
        copying.begin(table)
        comments.append(copying.comment)
    assert comments == [
        "  -- 1,000 rows; 0 of 4,000 are done",
        "",
        "",
        "  -- 3,000 rows; 1,000 of 4,000 are done, about 0:00:30 left",
        "",
    ]
    assert (copying.done, copying.total) == (4_000, 4_000)


async def test_a_revision_makes_a_table_of_workspaces_with_its_foreign_keys(plain: Command) -> None:
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

    url = plain.settings["DUOGRAPH_DATABASE_URL"]
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.run_sync(revise)
    await engine.dispose()
    asking = await asyncpg.connect(url.replace("+asyncpg", ""))
    keys: list[Any] = await asking.fetch(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE contype = 'f' AND conrelid = 'pages'::regclass"
    )
    await asking.close()
    assert dict(map(tuple, keys)) == {
        "fk_pages_workspace": "FOREIGN KEY (workspace_id) REFERENCES workspaces(id)",
        "fk_pages_share": (
            "FOREIGN KEY (workspace_id, share_id) REFERENCES shares(workspace_id, id) ON DELETE CASCADE"
        ),
    }
