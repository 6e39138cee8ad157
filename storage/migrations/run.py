"""Bring a database to the newest revision, or say which one it has."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from storage.database import Database


class BrokenReferences(Exception):
    """A revision left rows that refer to nothing; it was undone."""

    def __init__(self, table: str) -> None:
        super().__init__(f"Rows of {table} would refer to nothing.")


def newest_revision() -> str:
    return ScriptDirectory.from_config(_config()).get_current_head() or ""


def is_known(revision: str | None) -> bool:
    """Whether a database at that revision can be brought to the newest one."""
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    return revision is None or revision in known


async def current_revision(database: Database) -> str | None:
    """The revision the database has; None for an empty one."""

    def ask(connection: Connection) -> str | None:
        return MigrationContext.configure(connection).get_current_revision()

    async with database.engine.connect() as connection:
        return await connection.run_sync(ask)


async def upgrade(database: Database, revision: str = "head") -> None:
    """Run every revision up to `revision`, all or nothing.

    SQLite rebuilds a table to change it, and dropping the old one would count as deleting its rows: foreign
    keys are off meanwhile and all of them are checked before the commit. Raises `BrokenReferences`.
    """

    def run(connection: Connection) -> None:
        command.upgrade(_config(connection), revision)

    async with database.engine.connect() as connection:
        if database.is_sqlite:
            await connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
            await connection.rollback()
        await connection.execution_options(sqlite_begin="IMMEDIATE")
        try:
            async with connection.begin():
                await connection.run_sync(run)
                if database.is_sqlite:
                    broken = (await connection.exec_driver_sql("PRAGMA foreign_key_check")).all()
                    if broken:
                        raise BrokenReferences(broken[0][0])
        finally:
            if database.is_sqlite:
                await connection.execution_options(sqlite_begin=None)
                await connection.exec_driver_sql("PRAGMA foreign_keys=ON")


async def new_revision(database: Database, message: str) -> None:
    """Write the revision that leads from the database's tables to ours: for developers."""
    known = ScriptDirectory.from_config(_config()).walk_revisions()
    number = f"{sum(1 for _ in known) + 1:04}"

    def run(connection: Connection) -> None:
        command.revision(_config(connection), message, autogenerate=True, rev_id=number)

    async with database.write() as connection:
        await connection.run_sync(run)


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config
