"""Units of work on SQLite: statements that run together with others, units that gave up, and a new file."""

import asyncio
import sqlite3
import threading
from contextlib import closing

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from storage.dialects.sqlite import driver
from storage.dialects.sqlite.driver import SqliteDriver
from storage.engine.connections import Connection, SqliteThread
from storage.engine.database import Database

# Counts for ever, in memory that does not grow.
ENDLESS = text("""
    INSERT INTO numbers
    WITH RECURSIVE number(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number)
    SELECT count(*) FROM number
""")


def put_off(connection: Connection, *values: int) -> None:
    assert isinstance(connection, SqliteThread)
    connection.put_off("INSERT INTO numbers VALUES (?)", [(value,) for value in values])


async def values_in(connection: Connection) -> list[int]:
    return list((await connection.execute(text("SELECT value FROM numbers"))).scalars())


async def test_what_is_put_off_is_there_for_the_next_statement(numbers):
    async with numbers.write() as connection:
        put_off(connection, 1, 2)
        assert await values_in(connection) == [1, 2]


async def test_what_is_put_off_is_there_for_a_statement_that_is_streamed(numbers):
    async with numbers.write() as connection:
        put_off(connection, 1, 2)
        async with connection.stream(text("SELECT value FROM numbers")) as result:
            assert [value async for (value,) in result] == [1, 2]


async def test_what_is_put_off_is_committed_with_the_rest(numbers):
    async with numbers.write() as connection:
        await connection.execute(text("INSERT INTO numbers VALUES (1)"))
        put_off(connection, 2)
    async with numbers.read() as connection:
        assert await values_in(connection) == [1, 2]


async def test_what_is_put_off_goes_with_a_unit_that_fails(numbers):
    async def fail() -> None:
        async with numbers.write() as connection:
            put_off(connection, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with numbers.write() as connection:
        assert await values_in(connection) == []


async def test_a_unit_whose_put_off_statement_fails_changes_nothing(numbers):
    async def insert_twice() -> None:
        async with numbers.write() as connection:
            await connection.execute(text("INSERT INTO numbers VALUES (1)"))
            put_off(connection, 1)

    with pytest.raises(IntegrityError):
        await insert_twice()
    async with numbers.write() as connection:
        assert await values_in(connection) == []
        put_off(connection, 3)
    async with numbers.read() as connection:
        assert await values_in(connection) == [3]


async def insert_endlessly(database: Database) -> None:
    async with database.write() as connection:
        put_off(connection, 1)
        await connection.execute(ENDLESS)


def hold_thread(connection: Connection) -> threading.Event:
    """Let the connection's thread wait for the event before it runs anything else."""
    event = threading.Event()
    connection.driver._tx.put_nowait((None, event.wait))
    return event


async def cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def assert_nothing_is_left(database: Database) -> None:
    async with database.write() as connection:
        assert await values_in(connection) == []
        await connection.execute(text("INSERT INTO numbers VALUES (1)"))


@pytest.mark.parametrize("seconds", [0, 0.001, 0.05])
async def test_a_unit_that_is_cancelled_leaves_no_rows_and_no_lock(numbers, seconds):
    task = asyncio.create_task(insert_endlessly(numbers))
    await asyncio.sleep(seconds)
    await cancel(task)
    await assert_nothing_is_left(numbers)


async def test_a_unit_that_is_cancelled_before_its_statement_begins_leaves_no_lock(numbers):
    async with numbers.read() as connection:
        # The pool lends the same connection again.
        held = hold_thread(connection)
    task = asyncio.create_task(insert_endlessly(numbers))
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_later(0.1, held.set)
    await cancel(task)
    await assert_nothing_is_left(numbers)


async def test_a_unit_that_is_cancelled_twice_leaves_no_lock_and_no_task(numbers):
    others = asyncio.all_tasks()
    async with numbers.read() as connection:
        held = hold_thread(connection)
    task = asyncio.create_task(insert_endlessly(numbers))
    await asyncio.sleep(0)
    task.cancel()
    # By now the unit waits for its connection to close, which its thread does not do yet.
    await asyncio.sleep(0.05)
    await cancel(task)
    held.set()
    await assert_nothing_is_left(numbers)
    await asyncio.gather(*asyncio.all_tasks() - others)


async def test_a_unit_whose_statement_took_too_long_spoils_no_other(numbers):
    with pytest.raises(TimeoutError):
        async with numbers.read() as connection, asyncio.timeout(0.05):
            await connection.execute(ENDLESS)
    async with numbers.read() as connection:
        await values_in(connection)


@pytest.mark.parametrize("is_given_up", [False, True], ids=["closed", "given up"])
async def test_a_connection_that_ends_in_a_transaction_keeps_no_lock_and_no_thread(tmp_path, is_given_up):
    """Although a cursor outlives it, as in the traceback of a request that was cancelled."""
    file = str(tmp_path / "closed.sqlite")
    driver = await SqliteDriver(file, {})
    await driver.execute("CREATE TABLE numbers (number INTEGER)")
    driver.begin("IMMEDIATE")
    cursor = await driver.execute("INSERT INTO numbers VALUES (1), (2) RETURNING number")
    if is_given_up:
        driver.give_up()
        # SQLite forgets it only when no statement is half-read, so it would also stop a ROLLBACK.
        await driver.interrupt()
    await driver.close()
    driver._thread.join()
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert other.execute("SELECT * FROM numbers").fetchall() == []
    del cursor


def test_a_new_file_that_another_process_gives_a_write_ahead_log_is_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "new.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        # SQLite has refused, and the other one is done before it is asked again.
        monkeypatch.setattr(driver, "sleep", lambda _: other.rollback())
        with closing(driver.opened(str(path), sqlite3.Connection, timeout=0)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
