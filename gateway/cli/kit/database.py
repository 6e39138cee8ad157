"""Database access for subcommands: connect, check the revision, close."""

import asyncio
import gc
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError

from gateway.cli.kit.output import CommandError, tell_operator
from gateway.settings.settings import Settings
from storage.copies.marks import Mark, State, read_mark
from storage.engine.connection_terms import Terms
from storage.engine.database import Database
from storage.engine.outages import DatabaseUnreachable, is_lost
from storage.enums import ActorKind
from storage.migrations.lock import Tell, serialized, silent
from storage.migrations.revisions import (
    COMMIT_OF_OLDEST,
    current_revision,
    is_known,
    is_newer,
    newest_revision,
)
from storage.searching.making import is_made

Result = TypeVar("Result")

PATIENCE_SECONDS = 10
ADDRESS = "DUOGRAPH_DATABASE_URL"
# Python's default, 700, would look through the objects of most requests while they are in use. A new
# document leaves about 1,000 in cycles when it is validated: more of them would wait in memory.
OBJECTS_BETWEEN_COLLECTIONS = 10_000


def read_settings(**defaults: Any) -> Settings:
    """The settings in the environment. Raises `SettingsError`."""
    return Settings.from_environ(**defaults)


def wait_for(work: Coroutine[Any, Any, Result]) -> Result:
    """Run the work of a command. Garbage collection starts here and skips what was imported, which stays."""
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    gc.enable()
    return asyncio.run(work)


@asynccontextmanager
async def reached(
    settings: Settings, *, create: bool = False, source: str = ADDRESS
) -> AsyncIterator[Database]:
    """The database at any revision, once it answers. Raises `CommandError`.

    `create` creates a missing SQLite file; without it that is an error, because the address may be wrong.
    `source` is where the address is from.
    """
    if settings.sqlite_path is not None:
        _check_file(settings.sqlite_path, create=create)
    # A command's statements may take as long as they need.
    terms = Terms(pooled=settings.database_terms.pooled)
    database = Database(settings.database_url, pool_size=settings.database_pool_size, terms=terms)
    database.works_for = ActorKind.OPERATOR
    try:
        await _answer(database, source)
        yield database
    except (DBAPIError, DatabaseUnreachable) as error:
        if isinstance(error, DBAPIError) and not is_lost(error):
            raise CommandError(f"The database refused a statement: {error.orig}") from error
        raise CommandError(
            "The connection to the database was lost: run the command again once the database answers."
        ) from error
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
            await bring_up(database, tell_operator)
        elif fault := await revision_fault(database) or await _unfinished(database):
            raise CommandError(fault)
        yield database


async def revision_fault(database: Database) -> str | None:
    """What is wrong with the revision and what to do; None if it is this version's."""
    current, newest = await current_revision(database), newest_revision()
    if current == newest:
        return None
    if current is None:
        return "The database has no tables yet: run `duograph migrate`."
    if is_newer(current):
        return (
            f"The database is at revision {current}, of a newer version; this one ends at {newest}: start "
            "the newer version again, or restore the backup from before the upgrade."
        )
    if not is_known(current):
        return (
            f"The database is at revision {current}, which this version does not upgrade: check out commit "
            f"{COMMIT_OF_OLDEST}, run its `duograph migrate`, and then this one's."
        )
    return f"The database is at revision {current}, but this version needs {newest}: run `duograph migrate`."


async def _unfinished(database: Database) -> str | None:
    """What is wrong if a move has begun to fill the database and has not ended."""
    mark = await read_mark(database)
    if mark is None or mark.state is not State.RECEIVING:
        return None
    return about_move(mark)


def about_move(mark: Mark) -> str:
    """What a move means for the marked database, and what to do."""
    texts = {
        State.MOVING: f"A move to {mark.address} began on {mark.day}, and changes are refused until it ends: "
        "wait for it, run `duograph move` again if it was interrupted, or cancel it with "
        "`duograph move --undo`.",
        State.MOVED: f"The data was moved to {mark.address} on {mark.day}: set DUOGRAPH_DATABASE_URL to it, "
        "or use this copy again after `duograph move --undo`.",
        State.RECEIVING: f"A move from {mark.address} has not ended: run `duograph move` again with that "
        "database.",
    }
    return texts[mark.state]


async def bring_up(database: Database, tell: Tell = silent) -> str:
    """Migrate to the newest revision, with the indexes of texts. Raises `CommandError` or `TablesInUse`."""
    if await current_revision(database) != newest_revision() or not await is_made(database):
        async with serialized(database, tell):
            await _migrate(database, tell)
    return newest_revision()


async def _migrate(database: Database, tell: Tell) -> None:
    """Run the revisions that another process has not run meanwhile. Raises `CommandError`."""
    if not is_known(await current_revision(database)) and (fault := await revision_fault(database)):
        raise CommandError(fault)
    if (mark := await read_mark(database)) is not None:
        raise CommandError(
            f"A move that began on {mark.day} has marked the database, so it is not migrated: finish the "
            "move with the version that began it, or `duograph move --undo`."
        )
    # Most starts find the newest revision, and importing Alembic takes as long as reaching the database.
    from storage.migrations.run import run_revisions  # noqa: PLC0415
    from storage.workspaces.distribution import distribute_new_tables  # noqa: PLC0415

    await run_revisions(database, tell=tell)
    await distribute_new_tables(database)


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


async def _answer(database: Database, source: str) -> None:
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
    raise _out_of_reach(reason, source)


def _out_of_reach(reason: str, source: str = ADDRESS) -> CommandError:
    return CommandError(f"The database cannot be reached ({reason}): check {source}.")
