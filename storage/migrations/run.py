"""Upgrade a database to the newest revision, on PostgreSQL beside processes that use it."""

import asyncio
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.dialects.sqlite.driver import is_busy
from storage.engine.database import Database
from storage.migrations.lock import Tell, serialized, silent
from storage.migrations.revisions import current_revision, revision_after
from storage.operator_errors import OperatorError
from storage.searching import making

# While a revision waits for a table, every later statement on the table waits behind it.
LOCK_SECONDS = 2
# How long to let others go on after each attempt that got no lock: two minutes altogether.
PAUSES = (1, 2, 4, 8, 15, 30, 30, 30)
# How long a revision waits for SQLite's file before the operator is told.
BUSY_SECONDS = 1
# PostgreSQL's SQLSTATEs: lock_not_available and deadlock_detected.
_IN_THE_WAY = frozenset({"55P03", "40P01"})


class BrokenReferences(Exception):
    """A revision left rows with broken references; it was rolled back."""

    def __init__(self, table: str) -> None:
        super().__init__(f"Rows of {table} would refer to missing rows.")


class TablesInUse(OperatorError):
    """A revision got no lock on its tables at any attempt; the revisions before it are kept."""

    def __init__(self, revision: str | None) -> None:
        super().__init__(
            f"Revision {revision} could not lock a table within {LOCK_SECONDS} seconds, in {len(PAUSES) + 1} "
            "attempts: end the longest transactions of pg_stat_activity, then run `duograph migrate` again."
        )


async def upgrade(database: Database, revision: str = "head", tell: Tell = silent) -> None:
    """Run all revisions up to `revision`, when no other process runs any.

    Raises `BrokenReferences` or `TablesInUse`.
    """
    async with serialized(database, tell):
        await run_revisions(database, revision, tell)


async def run_revisions(database: Database, revision: str = "head", tell: Tell = silent) -> None:
    """Run all revisions up to `revision`, in a block of `serialized`.

    On SQLite they are one transaction, and on PostgreSQL one each, or several that can be repeated. The
    indexes of texts follow the newest one. Raises `BrokenReferences` or `TablesInUse`.
    """
    run = _run_when_unlocked if database.is_sqlite else _run_until_done
    await run(database, revision, tell)


async def _run_when_unlocked(database: Database, revision: str, tell: Tell) -> None:
    """Run revisions on SQLite, again until no other process keeps the file locked."""
    has_told = False
    while True:
        try:
            await _run_in_one_transaction(database, revision)
            return await _make_indexes(database, revision, tell)
        except DBAPIError as error:
            if not is_busy(error.orig):
                raise
        if not has_told:
            tell("Another process is changing the database; waiting for it.")
            has_told = True


async def _run_until_done(database: Database, revision: str, tell: Tell) -> None:
    """Run revisions on PostgreSQL, again where one got no lock. Raises `TablesInUse`."""
    failed, attempts = None, 0
    while not await _run_online(database, revision, tell):
        following = revision_after(await current_revision(database))
        failed, attempts = following, attempts + 1 if failed == following else 1
        if attempts > len(PAUSES):
            raise TablesInUse(following)
        pause = PAUSES[attempts - 1]
        tell(
            f"Revision {following} could not lock a table within {LOCK_SECONDS} seconds, because another "
            f"transaction uses it. Trying again in {pause} {'second' if pause == 1 else 'seconds'}."
        )
        await asyncio.sleep(pause)
    await _make_indexes(database, revision, tell)


async def _make_indexes(database: Database, revision: str, tell: Tell) -> None:
    if revision == "head":
        await making.make(database, tell)


async def _run_online(database: Database, revision: str, tell: Tell) -> bool:
    """Run revisions until one gets no lock; False then. It was rolled back, and the others are kept."""

    def run(connection: Connection) -> None:
        event.listen(connection, "begin", _limit)
        command.upgrade(config_of(connection, tell), revision)

    async with database.engine.connect() as connection:
        await connection.execution_options(isolation_level="READ COMMITTED")
        try:
            await connection.run_sync(run)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) not in _IN_THE_WAY:
                raise
            return False
    return True


def _limit(connection: Connection) -> None:
    """Begin a transaction of a revision: it waits for a lock shortly and runs for as long as it needs."""
    if connection.get_execution_options()["isolation_level"] != "AUTOCOMMIT":
        connection.exec_driver_sql(
            f"SELECT set_config('lock_timeout', '{LOCK_SECONDS}s', true), "
            "set_config('statement_timeout', '0', true), "
            # A cluster refuses a change of a table on every node in the transaction that changed another one
            # in all shards at once. Without Citus, this is a setting that no one reads.
            "set_config('citus.multi_shard_modify_mode', 'sequential', true)"
        )


async def _run_in_one_transaction(database: Database, revision: str) -> None:
    """Run revisions on SQLite, which locks the file for other writers from the first statement on.

    SQLite rebuilds a table to change it, and dropping the old table would count as deleting its rows. So
    foreign keys are off meanwhile and all are checked before the commit. Raises `BrokenReferences`.
    """
    async with database.engine.connect() as connection:
        await connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        await connection.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
        await connection.rollback()
        await connection.execution_options(sqlite_begin="IMMEDIATE")
        try:
            async with connection.begin():
                await connection.run_sync(lambda sync: command.upgrade(config_of(sync), revision))
                await _check_references(connection)
        finally:
            await connection.execution_options(sqlite_begin=None)
            await connection.exec_driver_sql("PRAGMA foreign_keys=ON")


async def _check_references(connection: AsyncConnection) -> None:
    broken = (await connection.exec_driver_sql("PRAGMA foreign_key_check")).first()
    if broken is not None:
        raise BrokenReferences(broken[0])


def config_of(connection: Connection | None = None, tell: Tell = silent) -> Config:
    """Alembic's configuration for our revisions, which run on `connection`."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes.update(connection=connection, tell=tell)
    return config
