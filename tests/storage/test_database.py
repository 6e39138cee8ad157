"""Connections that are lost between two units of work: nobody notices."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import text

from storage import database as database_module
from storage.database import Database

PROCESS_IDS = text("SELECT pg_backend_pid()")
END_OTHERS = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY(:ids)")


@pytest_asyncio.fixture
async def pooled(postgresql_url: str) -> AsyncIterator[Database]:
    database = Database(postgresql_url, pool_size=3)
    yield database
    await database.close()


async def three_at_once(database: Database) -> list[int]:
    """The server's processes of three connections in use at the same time."""
    everyone = asyncio.Barrier(3)

    async def one() -> int:
        async with database.read() as connection:
            await everyone.wait()
            return (await connection.execute(PROCESS_IDS)).scalar_one()

    return list(await asyncio.gather(one(), one(), one()))


async def end(database_url: str, ids: list[int]) -> None:
    other = Database(database_url)
    async with other.read() as connection:
        await connection.execute(END_OTHERS, {"ids": ids})
    await other.close()


async def test_connections_that_the_server_ended_are_replaced(pooled, postgresql_url):
    ended = await three_at_once(pooled)
    await end(postgresql_url, ended)
    await asyncio.sleep(0.2)
    assert not set(ended) & set(await three_at_once(pooled))


async def test_a_connection_that_lay_unused_is_asked_whether_it_still_answers(pooled, monkeypatch):
    (known, *_) = await three_at_once(pooled)
    monkeypatch.setattr(database_module, "TRUSTED_SECONDS", 0)
    async with pooled.snapshot() as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    assert known in await three_at_once(pooled)


@pytest.mark.parametrize("unit", ["read", "snapshot", "write"])
async def test_a_unit_after_the_end_of_its_connection_begins_on_another(pooled, postgresql_url, unit):
    ended = await three_at_once(pooled)
    await end(postgresql_url, ended)
    await asyncio.sleep(0.2)
    async with getattr(pooled, unit)() as connection:
        assert (await connection.execute(PROCESS_IDS)).scalar_one() not in ended
