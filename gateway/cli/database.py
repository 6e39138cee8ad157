"""Database access for subcommands: connect, check the revision, close."""

import asyncio
import gc
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError

from gateway.cli.output import CommandError
from gateway.settings.settings import Settings, SettingsError
from storage.database import Database
from storage.migrations.revisions import current_revision, is_known, newest_revision

Result = TypeVar("Result")

PATIENCE_SECONDS = 10
# Python's default, 700, would look through the objects of most requests while they are in use.
OBJECTS_BETWEEN_COLLECTIONS = 100_000


def read_settings(**defaults: Any) -> Settings:
    """The settings in the environment. Raises `CommandError`."""
    try:
        return Settings.from_environ(**defaults)
    except SettingsError as error:
        raise CommandError(str(error)) from None


def wait_for(work: Coroutine[Any, Any, Result]) -> Result:
    """Run the work of a command. Garbage collection starts here and skips what was imported, which stays."""
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    gc.enable()
    return asyncio.run(work)


@asynccontextmanager
async def reached(settings: Settings, *, create: bool = False) -> AsyncIterator[Database]:
    """The database at any revision, once it answers. Raises `CommandError`.

    `create` creates a missing SQLite file; without it that is an error, because the address may be wrong.
    """
    if settings.sqlite_path is not None:
        _check_file(settings.sqlite_path, create=create)
    database = Database(settings.database_url, pool_size=settings.database_pool_size)
    try:
        await _answer(database)
        yield database
    except DBAPIError as error:
        raise CommandError(f"The database refused a statement: {error.orig}") from error
    finally:
        await database.close()


@asynccontextmanager
async def migrated(settings: Settings, *, migrate_sqlite: bool = False) -> AsyncIterator[Database]:
    """The database at this version's revision. Raises `CommandError` for any other.

    With `migrate_sqlite`, a SQLite file is created or migrated instead.
    """
    migrates = migrate_sqlite and settings.sqlite_path is not None
    async with reached(settings, create=migrates) as database:
        if migrates:
            await bring_up(database)
        elif fault := await revision_fault(database):
            raise CommandError(fault)
        yield database


async def revision_fault(database: Database) -> str | None:
    """What is wrong with the revision and what to do; None if it is this version's."""
    current, newest = await current_revision(database), newest_revision()
    if current == newest:
        return None
    if current is None:
        return "The database has no tables yet: run `duograph migrate`."
    return f"The database is at revision {current}, but this version needs {newest}: run `duograph migrate`."


async def bring_up(database: Database) -> str:
    """Migrate to the newest revision and return it. Raises `CommandError` for an unknown one."""
    current = await current_revision(database)
    if current == newest_revision():
        return current
    if not is_known(current):
        raise CommandError(
            f"The database is at revision {current}, created by a newer version: install that version."
        )
    # Most starts find the newest revision, and importing Alembic takes as long as reaching the database.
    from storage.migrations.run import upgrade  # noqa: PLC0415

    await upgrade(database)
    return newest_revision()


def _check_file(path: Path, *, create: bool) -> None:
    """Open the file without the driver: its thread prints its own traceback on failure."""
    if not create and not path.exists():
        raise CommandError(
            f"There is no database at {path}: run `duograph migrate`, or correct DUOGRAPH_DATABASE_URL."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=PATIENCE_SECONDS)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except OSError as error:
        raise _out_of_reach(error.strerror or str(error)) from None
    except sqlite3.Error as error:
        raise _out_of_reach(str(error)) from None


async def _answer(database: Database) -> None:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await current_revision(database)
    except TimeoutError:
        reason = f"no answer in {PATIENCE_SECONDS} seconds"
    except DBAPIError as error:
        reason = str(error.orig)
    except OSError as error:
        reason = error.strerror or str(error)
    else:
        return
    raise _out_of_reach(reason)


def _out_of_reach(reason: str) -> CommandError:
    return CommandError(f"The database cannot be reached ({reason}): check DUOGRAPH_DATABASE_URL.")
