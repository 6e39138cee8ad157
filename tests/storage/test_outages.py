"""Which errors of the database are outages (callers get 503), which end the connection, and which neither."""

import pytest
from asyncpg import InterfaceError, InternalClientError
from sqlalchemy import func, literal, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from storage.dialects.json_rows import LinesTooLong, written_lines
from storage.engine.database import Database
from storage.engine.outages import DatabaseUnreachable, is_lost, is_outage
from storage.engine.statements.kept import Kept


async def test_a_server_that_is_not_there_is_an_outage(tmp_path):
    database = Database(f"postgresql+asyncpg:///duograph?host={tmp_path}")
    with pytest.raises(DatabaseUnreachable) as raised:
        async with database.read():
            raise AssertionError("unreachable")
    assert is_outage(raised.value)
    await database.close()


async def test_a_connection_that_the_server_ends_is_lost(postgresql_url):
    database = Database(postgresql_url, pool_size=1)
    with pytest.raises(DBAPIError) as raised:
        async with database.read() as connection:
            await connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")
    assert is_lost(raised.value)
    async with database.read() as connection:
        assert (await connection.exec_driver_sql("SELECT 1")).scalar_one() == 1
    await database.close()


async def test_lines_that_postgresql_cannot_make_are_too_long(postgresql_url):
    database = Database(postgresql_url, pool_size=1)
    # It refuses a text of a gigabyte by the same state, whether it is repeated at once or grows line by line.
    lines = written_lines(select(literal(1)), func.repeat("x", 2**30))
    with pytest.raises(LinesTooLong):
        await database.fetch(Kept(select(lines), database.dialect), {})
    await database.close()


def test_what_the_driver_says_while_a_connection_ends_is_a_lost_connection():
    ending = InternalClientError("got result for unknown protocol state 3")
    translated = InterfaceError("x")
    translated.__cause__ = ending
    assert is_lost(ending)
    assert is_lost(DBAPIError("SELECT 1", {}, translated))
    assert not is_lost(DBAPIError("SELECT 1", {}, InterfaceError("x")))


async def run(database, *statements):
    """Run the statements in one transaction."""
    async with database.write() as connection:
        for statement in statements:
            await connection.exec_driver_sql(statement)


@pytest.fixture
async def words(tmp_path):
    """A database with one small table."""
    database = Database(f"sqlite+aiosqlite:///{tmp_path}/words.sqlite", pool_size=1)
    await run(database, "CREATE TABLE words (word TEXT UNIQUE)")
    yield database
    await database.close()


async def test_a_full_disk_is_an_outage_on_sqlite(words):
    with pytest.raises(DBAPIError) as raised:
        await run(words, "PRAGMA max_page_count = 1", "INSERT INTO words VALUES (hex(zeroblob(100000)))")
    assert is_outage(raised.value)
    assert not is_lost(raised.value)


async def test_a_row_that_breaks_a_rule_is_no_outage(words):
    with pytest.raises(IntegrityError) as raised:
        await run(words, "INSERT INTO words VALUES ('a'), ('a')")
    assert not is_outage(raised.value)
