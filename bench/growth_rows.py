"""Copies the rows of a small and of a large workspace into the tables of one database."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg

from bench.servers import Site

NAMES = [f"page.viewed.{number}" for number in range(20)]
DAYS = 730
LAST_MOMENT = datetime(2026, 10, 31, tzinfo=UTC)
BATCH = 50_000
_GOLDEN_RATIO = 0x9E3779B97F4A7C15F39CC0605CEDC835

Row = tuple[Any, ...]
CUSTOMERS = (
    "created_at",
    "workspace_id",
    "id",
    "email",
    "email_folded",
    "email_verified",
    "name",
    "name_folded",
    "billing_address",
    "type",
    "metadata",
)
EVENTS = (
    "created_at",
    "timestamp",
    "workspace_id",
    "id",
    "source",
    "name",
    "customer_id",
    "metadata",
)


def fill(site: Site, workspace_id: UUID, many: int) -> None:
    """Insert as many customers, and as many events of 20 names over two years, half of them of customers."""
    tables = (("customers", CUSTOMERS, customers), ("events", EVENTS, events))
    for table, columns, rows in tables:
        for first in range(0, many, BATCH):
            numbers = range(first, min(first + BATCH, many))
            _copy(site, table, columns, list(rows(workspace_id, many, numbers)))


def customers(workspace_id: UUID, many: int, numbers: Sequence[int]) -> Iterator[Row]:
    for number in numbers:
        email, name = f"visitor-{number}@example.com", f"Visitor {number}"
        moment = _moment(many, number)
        texts = (email, email, False, name, name.casefold(), "{}", "individual", "{}")
        yield (moment, workspace_id, _id(workspace_id, number), *texts)


def events(workspace_id: UUID, many: int, numbers: Sequence[int]) -> Iterator[Row]:
    for number in numbers:
        moment = _moment(many, number)
        customer_id = _id(workspace_id, number) if number % 2 else None
        id, name = _id(workspace_id, many + number), NAMES[number % len(NAMES)]
        yield (moment, moment, workspace_id, id, "user", name, customer_id, '{"path":"/"}')


def _moment(many: int, number: int) -> datetime:
    return LAST_MOMENT - timedelta(days=DAYS) * ((many - number) / many)


def _id(workspace_id: UUID, number: int) -> UUID:
    """An id that follows from the number, spread like a random one."""
    return UUID(int=(workspace_id.int + number * _GOLDEN_RATIO) % 2**128, version=4)


def _copy(site: Site, table: str, columns: Sequence[str], rows: list[Row]) -> None:
    if site.postgresql is not None:
        asyncio.run(_copy_to_postgresql(site.postgresql.address, table, columns, rows))
        return
    statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    with sqlite3.connect(site.folder / "duograph.sqlite") as connection:
        connection.execute("PRAGMA cache_size = -500000")
        connection.executemany(statement, ([_for_sqlite(value) for value in row] for row in rows))
    connection.close()


async def _copy_to_postgresql(address: str, table: str, columns: Sequence[str], rows: list[Row]) -> None:
    connection = await asyncpg.connect(address)
    await connection.copy_records_to_table(table, records=rows, columns=columns)
    await connection.close()


def _for_sqlite(value: Any) -> Any:
    """The value as SQLAlchemy keeps it on SQLite."""
    if isinstance(value, UUID):
        return value.hex
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")
    return value
