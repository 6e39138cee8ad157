"""What a table has, as a count and a sum that depends on every value of every row but not on their order.

A row becomes a text, the same on both databases: for each column, a hyphen for null, otherwise its length in
bytes, a colon and its value. The sum adds the first eight bytes of the SHA-256 of each. SQLite's text comes
from what the file stores, PostgreSQL's from what the server makes of its types: no driver can hide a mistake.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Boolean, Column, Date, LargeBinary, Table, Uuid

from storage.copies import totals
from storage.copies.derived import without_timeout
from storage.engine.database import Database
from storage.types import MomentColumn

_BYTES = 8
_ROWS_AT_A_TIME = 200


@dataclass(frozen=True)
class Digest:
    """How many rows there are, and the sum of their checksums."""

    rows: int = 0
    total: int = 0

    @property
    def checksum(self) -> str:
        return f"{self.total % 2 ** (8 * _BYTES):016x}"


def digest_sqlite(connection: sqlite3.Connection, table: Table, report: Callable[[int], object]) -> Digest:
    """Read every row, in the order of the file; `report` is called with how many more were read."""
    parts = (_framed(_sqlite_text(each), "length(CAST({} AS BLOB))") for each in table.c)
    cursor = connection.execute(f'SELECT {" || ".join(parts)} FROM "{table.name}"')  # noqa: S608
    rows = total = 0
    while some := cursor.fetchmany(_ROWS_AT_A_TIME):
        rows += len(some)
        report(len(some))
        total += sum(int.from_bytes(sha256(text.encode()).digest()[:_BYTES], signed=True) for (text,) in some)
    return Digest(rows, total)


async def digest_postgresql(database: Database, table: Table) -> Digest:
    """Let the server read every row."""
    parts = (_framed(_postgresql_text(each), "octet_length({})") for each in table.c)
    text = f"convert_to({' || '.join(parts)}, 'UTF8')"
    number = f"('x' || encode(substring(sha256({text}) from 1 for {_BYTES}), 'hex'))::bit(64)::bigint"
    async with database.snapshot() as connection:
        await without_timeout(connection)
        rows, total = (
            await connection.exec_driver_sql(
                f'SELECT count(*), coalesce(sum({number}), 0) FROM "{table.name}"'  # noqa: S608
            )
        ).one()
    return Digest(int(rows), int(total))


def _framed(text: str, length: str) -> str:
    return f"coalesce({length.format(text)} || ':' || {text}, '-')"


def _sqlite_text(column: Column[Any]) -> str:
    name, kind = f'"{column.name}"', column.type
    if column.table in totals.TABLES and column.name == "value":
        return totals.alike()
    if isinstance(kind, LargeBinary):
        # The hex() of null is an empty text.
        return f"CASE WHEN {name} IS NOT NULL THEN lower(hex({name})) END"
    if isinstance(kind, MomentColumn):
        # Whole seconds may have been written without a fraction.
        return f"substr({name} || CASE WHEN instr({name}, '.') THEN '' ELSE '.' END || '000000', 1, 26)"
    return f"CAST({name} AS TEXT)"


def _postgresql_text(column: Column[Any]) -> str:
    name, kind = f'"{column.name}"', column.type
    if column.table in totals.TABLES and column.name == "value":
        return totals.alike()
    texts: dict[type, Callable[[str], str]] = {
        Uuid: lambda each: f"replace({each}::text, '-', '')",
        MomentColumn: lambda each: f"to_char({each} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')",
        Boolean: lambda each: f"{each}::int::text",
        LargeBinary: lambda each: f"encode({each}, 'hex')",
        Date: lambda each: f"to_char({each}, 'YYYY-MM-DD')",
    }
    return next((text(name) for each, text in texts.items() if isinstance(kind, each)), f"{name}::text")
