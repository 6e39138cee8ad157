"""Kept statements on a connection that outlives what they read, and what sees statements run."""

from contextlib import contextmanager
from datetime import datetime
from uuid import uuid4

import pytest
import pytest_asyncio
from sqlalchemy import bindparam, select, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError, StatementError

from storage.engine.database import Database
from storage.engine.outages import is_outage
from storage.engine.statements.kept import Kept
from storage.types import MomentColumn

ONE = Kept(text("SELECT 1"))


@pytest_asyncio.fixture
async def database(postgresql_url):
    database = Database(postgresql_url, pool_size=1)
    yield database
    await database.close()


@pytest_asyncio.fixture
async def changing(postgresql_url):
    """A table with one number, and what changes the type of the number meanwhile."""
    name, other = f"numbers_{uuid4().hex}", Database(postgresql_url, pool_size=1)

    async def run(statement):
        async with other.read() as connection:
            await connection.exec_driver_sql(statement)

    async def change():
        await run(f"ALTER TABLE {name} ALTER value TYPE text")

    await run(f"CREATE TABLE {name} AS SELECT 7 AS value")
    yield Kept(text(f"SELECT value FROM {name}")), change
    await run(f"DROP TABLE {name}")
    await other.close()


async def values(connection, kept):
    return [value for (value,) in await connection.fetch(kept, {})]


async def test_a_statement_is_prepared_again_after_its_table_has_changed(database, changing):
    numbers, change = changing
    async with database.read() as connection:
        assert await values(connection, numbers) == [7]
        await change()
        assert await values(connection, numbers) == ["7"]


async def test_a_transaction_fails_whose_table_has_changed_and_the_next_one_does_not(database, changing):
    numbers, change = changing
    async with database.read() as connection:
        assert await values(connection, numbers) == [7]
    await change()
    with pytest.raises(DBAPIError, match="cached statement plan is invalid"):
        async with database.write() as connection:
            await connection.fetch(numbers, {})
    async with database.write() as connection:
        assert await values(connection, numbers) == ["7"]


async def test_a_statement_on_a_connection_that_was_cut_is_refused_and_the_next_unit_has_another(database):
    async def fetch_after_a_cut():
        async with database.read() as connection:
            await connection.fetch(ONE, {})
            connection.abort()
            await connection.fetch(ONE, {})

    with pytest.raises(DBAPIError) as raised:
        await fetch_after_a_cut()
    assert is_outage(raised.value)
    assert list(await database.fetch(ONE, {})) == [(1,)]


async def test_a_statement_that_was_compiled_for_one_database_is_not_sent_to_another(database):
    one = Kept(select(text("1")), sqlite.dialect())
    with pytest.raises(LookupError, match="not compiled for postgresql"):
        await database.fetch(one, {})


async def test_what_sees_statements_is_not_told_of_one_whose_values_cannot_be_sent(database_url):
    seen = []

    @contextmanager
    def watch(statement):
        seen.append(f"begins {statement}")
        yield
        seen.append("ends")

    database = Database(database_url, pool_size=1, watch=watch)
    moment = text("SELECT :moment").bindparams(bindparam("moment", type_=MomentColumn()))
    async with database.read() as connection:
        await connection.exec_driver_sql("SELECT 1")
        for _ in range(2):
            with pytest.raises(StatementError, match="A moment needs a time zone"):
                await connection.execute(moment, {"moment": datetime(2026, 1, 31)})
        await connection.exec_driver_sql("SELECT 2")
    assert seen == ["begins SELECT 1", "ends", "begins SELECT 2", "ends"]
    await database.close()
