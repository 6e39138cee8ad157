"""Connections lost between two units of work, limits, and units that wait or give up."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from uuid import uuid4

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from storage.engine import connections
from storage.engine.connection_terms import Terms
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.outages import is_outage
from storage.engine.turns import waits
from tests.support.measures.patience import until

PROCESS_IDS = text("SELECT pg_backend_pid()")
END_OTHERS = text("SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE pid = ANY(:ids)")


@pytest_asyncio.fixture
async def pooled(server_url: str) -> AsyncIterator[Database]:
    database = Database(server_url, pool_size=3)
    yield database
    await database.close()


async def at_once(database: Database, many: int = 3) -> list[int]:
    """The server processes of some connections in use at the same time."""
    everyone = asyncio.Barrier(many)

    async def one() -> int:
        async with database.read() as connection:
            await everyone.wait()
            return (await connection.execute(PROCESS_IDS)).scalar_one()

    return list(await asyncio.gather(*(one() for _ in range(many))))


async def end(database: Database, database_url: str, ids: list[int]) -> None:
    """End the server processes of a database's connections, of which none is in use, and let it notice."""
    other = Database(database_url)
    async with other.read() as connection:
        await connection.execute(END_OTHERS, {"ids": ids})
    await other.close()

    async def has_noticed() -> bool:
        return all(connection.is_closed() for connection in database.pools["primary"]._free)

    await until(has_noticed)


async def test_connections_that_the_server_ended_are_replaced(pooled, server_url):
    ended = await at_once(pooled)
    await end(pooled, server_url, ended)
    assert not set(ended) & set(await at_once(pooled))


async def test_an_idle_connection_is_pinged_before_it_is_used(pooled, monkeypatch):
    (known, *_) = await at_once(pooled)
    monkeypatch.setattr(connections, "TRUSTED_SECONDS", 0)
    async with pooled.snapshot() as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    assert known in await at_once(pooled)


@pytest.mark.parametrize("unit", ["read", "snapshot", "write"])
async def test_a_unit_after_the_end_of_its_connection_begins_on_another(pooled, server_url, unit):
    ended = await at_once(pooled)
    await end(pooled, server_url, ended)
    async with getattr(pooled, unit)() as connection:
        assert (await connection.execute(PROCESS_IDS)).scalar_one() not in ended


async def test_a_connection_that_is_too_old_is_replaced(server_url):
    database = Database(server_url, pool_size=1, terms=Terms(life_seconds=0))
    seen = []
    for _ in range(3):
        async with database.read() as connection:
            seen.append((await connection.execute(PROCESS_IDS)).scalar_one())
    await database.close()
    assert len(set(seen)) == 3


async def test_connections_that_are_opened_together_are_replaced_at_different_times(server_url, monkeypatch):
    database, begun = Database(server_url, pool_size=20, terms=Terms(life_seconds=1000)), time.monotonic()
    # The clock stands still otherwise, however long it takes to open them.
    monkeypatch.setattr(connections, "monotonic", lambda: begun)
    opened = await at_once(database, 20)
    for age, replaced in ((890, [0]), (950, range(1, 20)), (1010, [20])):
        monkeypatch.setattr(connections, "monotonic", lambda age=age: begun + age)
        await at_once(database, 20)
        assert len(set(opened) - set(await at_once(database, 20))) in replaced, age
    await database.close()


async def test_a_statement_ends_at_its_limit_and_the_connection_is_used_again(server_url):
    database = Database(server_url, pool_size=1, terms=Terms(statement_seconds=1))
    with pytest.raises(DBAPIError, match="statement timeout") as error:
        async with database.read() as connection:
            await connection.execute(text("SELECT pg_sleep(60)"))
    assert is_outage(error.value)
    async with database.read() as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    await database.close()


async def test_a_statement_waits_no_longer_for_a_lock_than_its_limit(server_url):
    database = Database(server_url, pool_size=2, terms=Terms(lock_seconds=1))
    lock = text("SELECT pg_advisory_xact_lock(20261123)")
    async with database.write() as holder:
        await holder.execute(lock)
        with pytest.raises(DBAPIError, match="lock timeout") as error:
            async with database.write() as other:
                await other.execute(lock)
    assert is_outage(error.value)
    await database.close()


async def test_errors_of_the_database_name_no_values(database_url: str) -> None:
    database = Database(database_url)
    secret = "dg_wat_a_secret_in_a_parameter"
    for unit in (database.read, database.snapshot, database.write, database.write_apart):
        with pytest.raises(DBAPIError) as error:
            async with unit() as connection:
                await connection.execute(
                    text("SELECT * FROM nothing WHERE token = :token"), {"token": secret}
                )
        assert "nothing" in str(error.value)
        assert secret not in str(error.value)
    await database.close()


async def test_a_unit_that_waits_too_long_for_a_connection_fails(database_url: str, monkeypatch) -> None:
    monkeypatch.setattr(waits, "PATIENCE_SECONDS", 0.05)
    database = Database(database_url, pool_size=1)
    async with database.read():
        with pytest.raises(PoolTimeout, match="No connection to the database got free"):
            async with database.read():
                pass
    async with database.read() as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    await database.close()


async def test_units_that_gave_up_waiting_are_no_longer_counted(database_url: str, monkeypatch) -> None:
    database = Database(database_url, pool_size=1)
    primary = database.pools["primary"]

    async def wait_for_one() -> None:
        async with database.read():
            pass

    async with database.read():
        cancelled = [asyncio.create_task(wait_for_one()) for _ in range(3)]
        # One turn of the loop begins all of them, and nothing that they do before they wait takes another.
        await asyncio.sleep(0)
        assert primary.waiting == 3
        for task in cancelled:
            task.cancel()
        monkeypatch.setattr(waits, "PATIENCE_SECONDS", 0)
        ended = await asyncio.gather(wait_for_one(), *cancelled, return_exceptions=True)
        assert [type(each) for each in ended] == [PoolTimeout] + 3 * [asyncio.CancelledError]
        assert primary.waiting == 0
    await database.close()


async def test_a_unit_that_goes_on_after_a_failed_statement_is_not_taken_for_committed(server_url):
    database = Database(server_url, pool_size=1)
    table = f"numbers_{uuid4().hex}"

    async def go_on() -> None:
        async with database.write() as connection:
            await connection.execute(text(f"CREATE TABLE {table} (value INTEGER)"))
            with suppress(DBAPIError):
                await connection.execute(text("SELECT 1 / 0"))

    with pytest.raises(RuntimeError, match="rolled back"):
        await go_on()
    async with database.read() as connection:
        assert (await connection.execute(text(f"SELECT to_regclass('{table}')"))).scalar_one() is None
    await database.close()


async def test_a_unit_cancelled_while_its_connection_is_checked_gives_its_place_free(
    database_url: str, monkeypatch
) -> None:
    database = Database(database_url, pool_size=1)
    checking = asyncio.Event()

    async def fail() -> None:
        async with database.read() as own:
            answers = type(own).is_usable

            async def never_answers(connection: Connection) -> bool:
                """Those of other tests' gateways go on: they would wait for ever."""
                if connection is own:
                    checking.set()
                    await asyncio.Event().wait()
                return await answers(connection)

            monkeypatch.setattr(type(own), "is_usable", never_answers)
            raise ZeroDivisionError

    task = asyncio.create_task(fail())
    await checking.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    monkeypatch.undo()
    async with database.read() as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    await database.close()
