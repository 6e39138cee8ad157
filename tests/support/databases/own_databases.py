"""Databases of a test's own, copied from one that has been migrated."""

from pathlib import Path
from uuid import uuid4

import asyncpg
from sqlalchemy.engine import make_url

from storage.engine.database import Database
from storage.migrations.revisions import current_revision, newest_revision
from storage.migrations.run import upgrade
from tests.support.databases.templates import MIGRATED, sqlite_file


async def migrate(database: Database) -> None:
    """Migrate unless it is; a SQLite file that does not exist becomes a copy."""
    if not _copied(database) and await current_revision(database) != newest_revision():
        await upgrade(database)


async def own_database(url: str, folder: Path) -> str:
    """The address of a migrated database on the tests' server at `url`, or of a file in `folder`."""
    if url.startswith("sqlite"):
        return f"sqlite+aiosqlite:///{sqlite_file(folder)}"
    return named(url, await create_database(url, f"TEMPLATE {MIGRATED}"))


async def create_database(url: str, options: str = "") -> str:
    """The name of a new database on the server at `url`."""
    name = f"own_{uuid4().hex}"
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        await connection.execute(f"CREATE DATABASE {name} {options}")
    finally:
        await connection.close()
    return name


def named(url: str, name: str) -> str:
    """The address of another database on the server at `url`."""
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def _copied(database: Database) -> bool:
    """Whether the database was a missing file and is a copy now."""
    path = Path(str(database.engine.url.database))
    if not database.is_sqlite or path.exists():
        return False
    sqlite_file(path.parent, path.name)
    return True
