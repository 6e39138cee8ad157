"""Databases of a test's own, copied from one that has been migrated once in this process."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import asyncpg
from sqlalchemy.engine import make_url

from storage.engine.database import Database
from storage.migrations.run import upgrade

_files: list[bytes] = []
# The name of the migrated database on each server, by the address of the server.
_templates: dict[str, str] = {}
# A database is copied while it has no connections; a pooler keeps some for a while.
_DISCONNECT = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'"


async def migrate(database: Database) -> None:
    """Migrate; a SQLite file that does not exist becomes a copy."""
    if _is_missing(database):
        await _copy(Path(str(database.engine.url.database)))
    else:
        await upgrade(database)


async def own_database(url: str, folder: Path) -> str:
    """The address of a migrated database on the server of `url`, or of a file in `folder`."""
    if url.startswith("sqlite"):
        await _copy(folder / "own.sqlite")
        return f"sqlite+aiosqlite:///{folder}/own.sqlite"
    if url not in _templates:
        template = await create_database(url)
        await _upgrade(named(url, template))
        await _execute(url, _DISCONNECT.format(name=template))
        _templates[url] = template
    return named(url, await create_database(url, f"TEMPLATE {_templates[url]}"))


async def create_database(url: str, options: str = "") -> str:
    """The name of a new database on the server of `url`."""
    name = f"own_{uuid4().hex}"
    await _execute(url, f"CREATE DATABASE {name} {options}")
    return name


def named(url: str, name: str) -> str:
    """The address of another database on the server of `url`."""
    return make_url(url).set(database=name).render_as_string(hide_password=False)


async def _execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


def _is_missing(database: Database) -> bool:
    return database.is_sqlite and not Path(str(database.engine.url.database)).exists()


async def _copy(path: Path) -> None:
    if not _files:
        with TemporaryDirectory() as folder:
            migrated = Path(folder) / "migrated.sqlite"
            await _upgrade(f"sqlite+aiosqlite:///{migrated}")
            _files.append(await asyncio.to_thread(migrated.read_bytes))
    await asyncio.to_thread(path.write_bytes, _files[0])


async def _upgrade(url: str) -> None:
    database = Database(url)
    try:
        await upgrade(database)
    finally:
        await database.close()
