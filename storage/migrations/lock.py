"""One process at a time runs revisions; others wait for it and then find nothing to do."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.engine.database import Database

# What is told a sentence for the operator.
Tell = Callable[[str], None]

SECONDS_BETWEEN_TRIES = 0.5
_KEY = int.from_bytes(b"migrate")
# PostgreSQL learns that the process is gone, and ends the transaction. Not every version has all of these.
_SETTINGS = {
    "transaction_timeout": "0",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
_SET = text("SELECT set_config(name, :value, true) FROM pg_settings WHERE name = :name")


def silent(_: str) -> None:
    """Tells nobody."""


@asynccontextmanager
async def serialized(database: Database, tell: Tell = silent) -> AsyncIterator[None]:
    """Wait until no other process is in such a block on this database.

    The lock is of a transaction, because a pooler keeps nothing else together, and on a connection of its
    own, because revisions commit. Should that connection be lost, a second process could begin, but apply no
    revision again: each updates the number of the one before, or fails. On SQLite there is nothing to do: the
    transaction of the revisions waits until others have unlocked the file.
    """
    if database.is_sqlite:
        yield
        return
    async with database.engine.connect() as connection:
        # Others would keep a snapshot, and PostgreSQL builds no index concurrently until it ends.
        await connection.execution_options(isolation_level="READ COMMITTED")
        await _lock(connection, tell)
        yield


async def _lock(connection: AsyncConnection, tell: Tell) -> None:
    """Lock until the end of the transaction that is left open.

    While the holder builds an index, it waits for each snapshot to end, also that of a statement that waits.
    So this one only tries.
    """
    has_told = False
    while not (await connection.execute(select(func.pg_try_advisory_xact_lock(_KEY)))).scalar():
        await connection.rollback()
        if not has_told:
            tell("Another `duograph migrate` is running; waiting for it.")
            has_told = True
        await asyncio.sleep(SECONDS_BETWEEN_TRIES)
    for name, value in _SETTINGS.items():
        await connection.execute(_SET, {"name": name, "value": value})
    # It comes last: the driver leaves the result of a SELECT open, with its snapshot.
    await connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
