"""A local object store in a directory of its own, and a database of its own."""

from uuid import uuid4

import pytest
import pytest_asyncio
from sqlalchemy import text

from storage.engine.database import Database
from tests.storage.uploads import store_in


@pytest.fixture
def store(tmp_path):
    return store_in(tmp_path)


@pytest_asyncio.fixture
async def numbers(tmp_path):
    """SQLite with a table of unique numbers, and one connection for units of work."""
    database = Database(f"sqlite+aiosqlite:///{tmp_path}/numbers.sqlite", pool_size=1)
    async with database.write() as connection:
        await connection.execute(text("CREATE TABLE numbers (value INTEGER PRIMARY KEY)"))
    yield database
    await database.close()


@pytest_asyncio.fixture
async def empty(database_url, tmp_path):
    """A database without tables, on the engine of `database_url`."""
    database = await make_empty(database_url, tmp_path)
    yield database
    await database.close()


async def make_empty(database_url, folder):
    if database_url.startswith("sqlite"):
        return Database(f"sqlite+aiosqlite:///{folder}/empty.sqlite")
    name = f"empty_{uuid4().hex}"
    server = Database(database_url)
    async with server.read() as connection:
        await connection.execute(text(f"CREATE DATABASE {name}"))
    await server.close()
    return Database(database_url.replace("/postgres?", f"/{name}?", 1))
