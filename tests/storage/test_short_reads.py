"""Kept reads of SQLite: short ones on the event loop, others in threads."""

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from storage.dialects.sqlite import reader
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.engine.turns import waits

NUMBERS = Kept(text("SELECT value FROM numbers ORDER BY value"))
COUNT = """
    WITH RECURSIVE number(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < {})
    SELECT count(*) FROM number
"""
# Takes some hundredths of a second.
LONG = Kept(text(COUNT.format(200_000)))
ENDLESS = Kept(text(COUNT.format(10**15)))


async def insert(database: Database, number: int) -> None:
    async with database.write() as connection:
        await connection.execute(text(f"INSERT INTO numbers VALUES ({number})"))


async def test_a_short_read_needs_no_connection_of_the_pool(numbers):
    await insert(numbers, 1)
    async with numbers.snapshot():
        assert await numbers.fetch(NUMBERS, {}) == [(1,)]


async def test_a_short_read_sees_what_is_committed_and_nothing_else(numbers):
    async with numbers.write() as connection:
        await connection.execute(text("INSERT INTO numbers VALUES (1)"))
        assert await numbers.fetch(NUMBERS, {}) == []
    assert await numbers.fetch(NUMBERS, {}) == [(1,)]


async def test_a_read_without_end_holds_up_no_other_and_ends_with_its_caller(numbers):
    endless = asyncio.create_task(numbers.fetch(ENDLESS, {}))
    await asyncio.sleep(0.05)
    assert await numbers.fetch(NUMBERS, {}) == []
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless
    await insert(numbers, 1)
    assert await numbers.fetch(NUMBERS, {}) == [(1,)]


async def test_a_read_that_moved_to_a_thread_leaves_no_transaction_behind(numbers):
    await insert(numbers, 1)
    await numbers.fetch(LONG, {})
    await insert(numbers, 2)
    # Fails to empty the log of changes as long as a transaction reads from it.
    checkpoint = Kept(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    async with numbers.read() as connection:
        assert await connection.fetch(checkpoint, {}) == [(0, 0, 0)]


@pytest.mark.parametrize("seconds", [0, 60])
async def test_every_read_gives_the_same_rows_on_the_loop_and_in_a_thread(numbers, monkeypatch, seconds):
    monkeypatch.setattr(reader, "MOST_SECONDS", seconds)
    monkeypatch.setattr(reader, "STEPS", 1)
    for number in range(20):
        await insert(numbers, number)
    told: list[str] = []
    numbers.listeners.append(told.append)
    assert await numbers.fetch(NUMBERS, {}) == [(number,) for number in range(20)]
    assert told == ["SELECT value FROM numbers ORDER BY value"]


async def test_errors_are_the_same_as_of_other_statements(numbers):
    secret = "dg_wat_a_secret_in_a_parameter"
    unknown = Kept(text("SELECT * FROM nothing WHERE token = :token"))
    for _ in range(2):
        with pytest.raises(DBAPIError) as error:
            await numbers.fetch(unknown, {"token": secret})
        assert "nothing" in str(error.value)
        assert secret not in str(error.value)
        assert await numbers.fetch(NUMBERS, {}) == []


async def test_a_kept_read_goes_on_after_its_table_has_changed(numbers):
    every = Kept(text("SELECT * FROM numbers"))
    await insert(numbers, 1)
    assert await numbers.fetch(every, {}) == [(1,)]
    async with numbers.write() as connection:
        await connection.execute(text("ALTER TABLE numbers ADD COLUMN word TEXT DEFAULT 'one'"))
    assert await numbers.fetch(every, {}) == [(1, "one")]


async def test_a_statement_that_writes_waits_for_a_connection_of_the_pool(numbers, monkeypatch):
    monkeypatch.setattr(waits, "PATIENCE_SECONDS", 0.05)
    one = Kept(text("INSERT INTO numbers VALUES (1)"))
    async with numbers.read():
        with pytest.raises(PoolTimeout):
            await numbers.fetch(one, {})
    assert await numbers.fetch(NUMBERS, {}) == []
    await numbers.fetch(one, {})
    assert await numbers.fetch(NUMBERS, {}) == [(1,)]


async def test_a_late_read_of_metadata_moves_to_a_thread_before_the_next_row(numbers, monkeypatch):
    monkeypatch.setattr(reader, "MOST_SECONDS", 0)
    monkeypatch.setattr(waits, "PATIENCE_SECONDS", 0.05)
    documents = Kept(text("""SELECT metadata_text('{"key": ' || value || '}', 'key') FROM numbers"""))
    for number in range(3):
        await insert(numbers, number)
    async with numbers.read():
        with pytest.raises(PoolTimeout):
            await numbers.fetch(documents, {})
    assert await numbers.fetch(documents, {}) == [("0",), ("1",), ("2",)]


async def test_closing_closes_every_connection(numbers, tmp_path):
    await numbers.fetch(NUMBERS, {})
    assert (tmp_path / "numbers.sqlite-wal").exists()
    await numbers.close()
    assert not (tmp_path / "numbers.sqlite-wal").exists()
