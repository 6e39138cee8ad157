"""Bring a database to the newest revision, or say which one it has."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from storage.database import Database


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
    """Run every revision up to `revision`, in one transaction on PostgreSQL."""

    def run(connection: Connection) -> None:
        command.upgrade(_config(connection), revision)

    async with database.write() as connection:
        await connection.run_sync(run)


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
