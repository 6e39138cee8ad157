"""Copying the tables of a SQLite file to PostgreSQL.

Each batch is one transaction with the note of how far it got, so a move that is killed goes on after the
last batch: the position is the number of the table, and the last key in it.
"""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from sqlalchemy import Table

from storage.engine.connections import DRIVER_ERRORS, Connection
from storage.engine.database import Database
from storage.engine.outages import DatabaseUnreachable, is_lost
from storage.moving.derived import drop_derived, without_timeout
from storage.moving.marks import Mark, MoveDisturbed, advance
from storage.moving.source import Batch, SourceTable
from storage.tables.registry import METADATA

TABLES: tuple[Table, ...] = tuple(METADATA.sorted_tables)


@dataclass(frozen=True)
class Position:
    """The tables before `number` are copied, and of that one the rows up to the key `last`."""

    number: int = 0
    last: str | None = None

    @classmethod
    def read(cls, text: str) -> "Position":
        return cls(*json.loads(text)) if text else cls()

    @property
    def text(self) -> str:
        return json.dumps([self.number, self.last])


COMPLETE = Position(len(TABLES))


async def filled_tables(database: Database) -> list[str]:
    """The tables that have rows."""
    async with database.read() as connection:
        checks = [(table.name, f'SELECT 1 FROM "{table.name}" LIMIT 1') for table in TABLES]  # noqa: S608
        return [name for name, check in checks if (await connection.exec_driver_sql(check)).first()]


async def copy_rows(source: sqlite3.Connection, target: Database, mark: Mark) -> AsyncIterator[Mark]:
    """Copy what the mark of the target lacks; yields the mark after each batch. Raises `MoveDisturbed`.

    The target then lacks foreign keys and indexes (`storage/moving/derived.py`).
    """
    position = Position.read(mark.position)
    if position != COMPLETE:
        await drop_derived(target)
    for number in range(position.number, len(TABLES)):
        table = SourceTable(TABLES[number])
        last = position.last if number == position.number else None
        reading = _read_ahead(table, source, last)
        while (batch := await reading) is not None:
            reading = _read_ahead(table, source, batch.last)
            after = replace(
                mark, position=Position(number, batch.last).text, copied=mark.copied + len(batch.records)
            )
            try:
                async with target.write() as connection:
                    await _insert(connection, table, batch)
                    await advance(connection, mark, after)
            except BaseException:
                # The thread uses the connection, which the caller is about to close.
                await asyncio.wait([reading])
                raise
            mark = after
            yield mark
    if position != COMPLETE:
        async with target.write() as connection:
            await advance(connection, mark, replace(mark, position=COMPLETE.text))


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
        raise MoveDisturbed(
            f"PostgreSQL refuses rows of {table.table.name} ({type(error).__name__}, after the key "
            f"{batch.last}): {error}."
        ) from None


async def analyze(target: Database) -> None:
    """Count what the planner needs to know: without it, the first requests would read whole tables."""
    async with target.write() as connection:
        await without_timeout(connection)
        for table in TABLES:
            await connection.exec_driver_sql(f'ANALYZE "{table.name}"')
