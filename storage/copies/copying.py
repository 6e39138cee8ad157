"""Copying the tables of a SQLite file to PostgreSQL.

Each batch is one transaction with the note of how far it got, so a move that is killed goes on after the
last batch. A position is the number of a table and the last key that was copied of it, as JSON; the tables
before are complete.
"""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator

from sqlalchemy import Table

from storage.copies.derived import drop_derived, without_timeout
from storage.copies.marks import Mark, advance
from storage.copies.source import Batch, SourceTable
from storage.copies.sqlite_files import CopyRefused
from storage.engine.connections import DRIVER_ERRORS, Connection
from storage.engine.database import Database
from storage.engine.outages import DatabaseUnreachable, is_lost
from storage.tables.registry import METADATA

TABLES: tuple[Table, ...] = tuple(METADATA.sorted_tables)


async def filled_tables(database: Database) -> list[str]:
    """The tables that have rows."""
    async with database.read() as connection:
        checks = [(table.name, f'SELECT 1 FROM "{table.name}" LIMIT 1') for table in TABLES]  # noqa: S608
        return [name for name, check in checks if (await connection.exec_driver_sql(check)).first()]


async def copy_rows(source: sqlite3.Connection, target: Database, mark: Mark) -> AsyncIterator[Mark]:
    """Copy what the mark of the target lacks; yields the mark after each batch. Raises `CopyRefused`.

    The target then lacks foreign keys and indexes (`storage/copies/derived.py`).
    """
    begin, last = json.loads(mark.position) if mark.position else (0, None)
    if begin < len(TABLES):
        await drop_derived(target)
    for number in range(begin, len(TABLES)):
        table = SourceTable(TABLES[number])
        reading = _read_ahead(table, source, last)
        while (batch := await reading) is not None:
            reading = _read_ahead(table, source, batch.last)
            try:
                async with target.write() as connection:
                    await _insert(connection, table, batch)
                    mark = await advance(connection, mark, [number, batch.last], len(batch.records))
            except BaseException:
                # The thread uses the connection, which the caller is about to close.
                await asyncio.wait([reading])
                raise
            yield mark
        last = None
    if begin < len(TABLES):
        async with target.write() as connection:
            await advance(connection, mark, [len(TABLES), None], 0)


def _read_ahead(
    table: SourceTable, source: sqlite3.Connection, last: str | None
) -> "asyncio.Task[Batch | None]":
    """Read the next batch in a thread while PostgreSQL stores the last one."""
    return asyncio.create_task(asyncio.to_thread(table.read, source, last))


async def _insert(connection: Connection, table: SourceTable, batch: Batch) -> None:
    try:
        await connection.driver.copy_records_to_table(
            table.table.name, records=batch.records, columns=table.names
        )
    except DRIVER_ERRORS as error:
        if isinstance(error, OSError) or is_lost(error):
            raise DatabaseUnreachable(f"The connection to PostgreSQL was lost: {error}") from error
        # Its detail has values of the row.
        raise CopyRefused(
            f"PostgreSQL refuses rows of {table.table.name} ({type(error).__name__}, after the key "
            f"{batch.last}): {error}."
        ) from None


async def analyze(target: Database) -> None:
    """Count what the planner needs to know: without it, the first requests would read whole tables."""
    async with target.write() as connection:
        await without_timeout(connection)
        for table in TABLES:
            await connection.exec_driver_sql(f'ANALYZE "{table.name}"')
