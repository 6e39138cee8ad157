"""Migrations meet each other, long transactions and their own interrupted attempts."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path

import asyncpg
import pytest
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection

from storage.engine.database import Database
from storage.migrations import online, run
from storage.migrations.revisions import current_revision, newest_revision
from tests.storage.conftest import make_empty
from tests.storage.migrating import Old, make_old, migrating
from tests.support.commands.command import Command
from tests.support.measures.patience import until

MIGRATED = f"The database is at revision {newest_revision()}."
WAITS = "Another `duograph migrate` is running; waiting for it."
WAITS_FOR_FILE = "Another process is changing the database; waiting for it."
# Revision 0034 builds it; 0035 then changes `workspaces`.
INDEX, TABLE = "ix_idempotency_keys_created_at", "idempotency_keys"
VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)"
ROW = f"INSERT INTO {TABLE} (created_at, subject, operation, key, digest) VALUES (now(), 'a', 'b', 'c', 'd')"
SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
BUILDERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND query LIKE 'CREATE INDEX%'"
)


@pytest.fixture
def old(tmp_path: Path, server_url: str, postgresql_url: str) -> Callable[[str], Awaitable[Old]]:
    """Make a database at a revision, with one row in `TABLE`."""

    async def make(revision: str) -> Old:
        made = await make_old(revision, tmp_path, server_url, postgresql_url)
        async with made.connected() as connection:
            await connection.execute(ROW)
        return made

    return make


@asynccontextmanager
async def transaction(old: Old, *statements: str) -> AsyncIterator[asyncpg.Connection]:
    """A transaction that has run these statements and stays open for the block."""
    async with old.connected() as connection:
        await connection.execute("; ".join(("BEGIN", *statements)))
        yield connection


async def test_the_second_of_two_migrations_waits_and_finds_nothing_to_do(old):
    database = await old("0033")
    async with AsyncExitStack() as stack:
        async with transaction(database, f"LOCK TABLE {TABLE} IN SHARE UPDATE EXCLUSIVE MODE"):
            first = await stack.enter_async_context(migrating(database.command))
            await first.says(f"Building {INDEX}")
            second = await stack.enter_async_context(migrating(database.command))
            await second.says(WAITS)
        assert await first.ends() == await second.ends() == MIGRATED
    assert second.lines == [WAITS]


async def test_two_migrations_of_an_empty_database_make_its_tables_once(tmp_path, server_url, postgresql_url):
    database = await make_old(None, tmp_path, server_url, postgresql_url)
    async with migrating(database.command) as first, migrating(database.command) as second:
        assert await first.ends() == await second.ends() == MIGRATED


@pytest.mark.parametrize("revision", [None, "0033"])
async def test_two_migrations_of_a_file_run_one_after_the_other(tmp_path, revision):
    path = tmp_path / "duograph.sqlite"
    command = Command(tmp_path, {"DUOGRAPH_DATABASE_URL": f"sqlite:///{path}"})
    if revision is not None:
        database = Database(f"sqlite+aiosqlite:///{path}")
        await run.upgrade(database, revision)
        await database.close()
    async with AsyncExitStack() as stack:
        with closing(sqlite3.connect(path, isolation_level=None)) as writer:
            if revision is not None:
                writer.execute("BEGIN IMMEDIATE")
            both = [await stack.enter_async_context(migrating(command)) for _ in range(2)]
            if revision is not None:
                for each in both:
                    await each.says(WAITS_FOR_FILE)
        assert [await each.ends() for each in both] == [MIGRATED, MIGRATED]


async def test_a_revision_without_its_lock_lets_others_go_on_and_tries_again(old):
    database = await old("0034")
    async with migrating(database.command) as migration:
        async with transaction(database, "SELECT FROM workspaces"), database.connected() as writer:
            said = await migration.says("Revision 0035")
            assert said.startswith("Revision 0035 could not lock a table within 2 seconds, because another")
            assert said.endswith("Trying again in 1 second.")
            await writer.execute("SET statement_timeout = '30s'")
            await writer.execute("UPDATE workspaces SET name = name")
        assert await migration.ends() == MIGRATED


async def test_a_revision_that_gets_no_lock_keeps_those_before_it(old, monkeypatch):
    monkeypatch.setattr(run, "PAUSES", ())  # They take two minutes.
    place = await old("0033")
    database = Database(place.url)
    async with transaction(place, "SELECT FROM workspaces"):
        with pytest.raises(run.TablesInUse, match="Revision 0035 could not lock a table"):
            await run.upgrade(database)
        assert await current_revision(database) == "0034"
    # The server may end that transaction seconds after its client.
    monkeypatch.undo()
    await run.upgrade(database)
    assert await current_revision(database) == newest_revision()
    await database.close()


async def test_an_unusable_index_of_an_empty_table_is_built_again(postgresql_url, tmp_path):
    database = await make_empty(postgresql_url, tmp_path)

    def build(connection: Connection) -> None:
        context = MigrationContext.configure(connection, opts={"transaction_per_migration": True})
        with context.begin_transaction(_per_migration=True), Operations.context(context):
            online.create_index("ix_notes", "notes", ["id"])

    async with database.read() as observer:
        await observer.exec_driver_sql("CREATE TABLE notes (id int)")
        await observer.exec_driver_sql("CREATE INDEX ix_notes ON notes (id)")
        await observer.exec_driver_sql("UPDATE pg_index SET indisvalid = indexrelid <> 'ix_notes'::regclass")
        async with database.engine.connect() as connection:
            await connection.run_sync(build)
        assert (await observer.exec_driver_sql(VALID, ("ix_notes",))).scalar_one() is True
    await database.close()


@pytest.mark.parametrize("server_goes_on", [False, True])
async def test_what_an_interrupted_build_of_an_index_left_is_no_obstacle(old, server_goes_on):
    database = await old("0033")

    async with database.connected() as observer:

        async def is_invalid() -> bool:
            return await observer.fetchval(VALID, INDEX) is False

        async def nobody_builds() -> bool:
            return not await observer.fetch(BUILDERS)

        async with AsyncExitStack() as stack:
            # The build comes to its last step, and waits for this snapshot.
            async with transaction(database, SNAPSHOT, "SELECT FROM users"):
                async with migrating(database.command) as killed:
                    await until(is_invalid)
                    await killed.kill()
                if not server_goes_on:
                    await until(nobody_builds)
                    assert await is_invalid()
                migration = await stack.enter_async_context(migrating(database.command))
                await migration.says(f"Building {INDEX}")
            assert await migration.ends() == MIGRATED
        assert await observer.fetchval(VALID, INDEX) is True
