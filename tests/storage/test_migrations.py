"""Migrations: an empty database becomes the one that the tables describe, on both engines."""

from uuid import uuid4

import pytest
import pytest_asyncio
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from storage.database import Database
from storage.migrations import run
from storage.tables.registry import METADATA

REVISIONS = [
    script.revision for script in ScriptDirectory(run.__file__.removesuffix("/run.py")).walk_revisions()
]


@pytest_asyncio.fixture
async def empty(database_url, tmp_path):
    """A database without tables, on the engine of `database_url`."""
    if database_url.startswith("sqlite"):
        database = Database(f"sqlite+aiosqlite:///{tmp_path}/empty.sqlite")
    else:
        name = f"empty_{uuid4().hex}"
        server = Database(database_url)
        async with server.read() as connection:
            await connection.execute(text(f"CREATE DATABASE {name}"))
        await server.close()
        database = Database(database_url.replace("/postgres?", f"/{name}?", 1))
    yield database
    await database.close()


def differences(connection):
    context = MigrationContext.configure(connection, opts={"compare_type": True, "render_as_batch": True})
    return compare_metadata(context, METADATA)


async def test_the_newest_revision_is_what_the_tables_say(empty):
    await run.upgrade(empty)
    assert await run.current_revision(empty) == run.newest_revision()
    async with empty.engine.connect() as connection:
        assert await connection.run_sync(differences) == []


@pytest.mark.parametrize("revision", REVISIONS)
async def test_every_earlier_revision_leads_to_the_newest(empty, revision):
    await run.upgrade(empty, revision)
    assert await run.current_revision(empty) == revision
    await run.upgrade(empty)
    assert await run.current_revision(empty) == run.newest_revision()
