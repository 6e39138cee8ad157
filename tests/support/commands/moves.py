"""What tests of `duograph move` do with its two databases, and moves that are killed before a table."""

import asyncio
import sqlite3
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import asyncpg
from sqlalchemy import select

from storage.engine.database import Database
from storage.rows.rows import table_of
from storage.tables.registry import METADATA
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.commands.command import Command, Process
from tests.support.databases.ledgers import verify_cells, verify_totals

LOCK = 1
# A trigger and not a lock on the table, which would keep the move from dropping its keys before.
HOLD = """
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM pg_advisory_xact_lock({lock}); RETURN NULL; END';
    CREATE TRIGGER wait BEFORE INSERT ON {table} FOR EACH STATEMENT EXECUTE FUNCTION wait();
    SELECT pg_advisory_lock({lock});
"""
IS_HELD = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
)


def plain(url: str) -> str:
    """The address without a driver."""
    return url.replace("postgresql+asyncpg://", "postgresql://")


def file_of(command: Command) -> Path:
    return command.directory / "var" / "duograph.sqlite"


def numbers_of(command: Command) -> dict[str, int]:
    """How many rows each table of the file has."""
    with closing(sqlite3.connect(file_of(command))) as connection:
        return {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in METADATA.tables
        }


def change(command: Command, statement: str = "UPDATE users SET name = 'changed'") -> None:
    """Change the file without the gateway. Raises `sqlite3.IntegrityError` where it refuses changes."""
    with closing(sqlite3.connect(file_of(command))) as connection, connection:
        connection.execute(statement)


async def differences_in(url: str) -> int:
    """How many cells differ from the log, and totals from the rows."""
    database = Database(url, pool_size=2)
    async with database.read() as connection:
        ids = (await connection.execute(select(table_of(WorkspaceRow).c.id))).scalars().all()
    differences = 0
    for id in ids:
        differences += (await verify_cells(database, id)).differences
        differences += (await verify_totals(database, id)).differences
    await database.close()
    return differences


@asynccontextmanager
async def stopped_before(table: str, command: Command, url: str) -> AsyncIterator[Process]:
    """A move that has copied the tables before this one and waits to write it; it is killed in the end."""
    connection = await asyncpg.connect(plain(url))
    await connection.execute(HOLD.format(table=table, lock=LOCK))
    files = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with command.start("move", "--to", url, **files) as process:
        try:
            while not await connection.fetchval(IS_HELD):
                assert process.poll() is None
                await asyncio.sleep(0.02)
            yield process
        finally:
            process.kill()
    await connection.execute(f"SELECT pg_advisory_unlock({LOCK}); DROP FUNCTION wait CASCADE")
    await connection.close()


async def interrupt_before(table: str, command: Command, url: str) -> None:
    """Begin to move, and kill the move before this table."""
    async with stopped_before(table, command, url):
        pass
