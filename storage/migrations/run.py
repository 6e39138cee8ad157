"""Upgrade a database to the newest revision."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from storage.database import Database


class BrokenReferences(Exception):
    """A revision left rows with broken references; it was rolled back."""

    def __init__(self, table: str) -> None:
        super().__init__(f"Rows of {table} would refer to missing rows.")


async def upgrade(database: Database, revision: str = "head") -> None:
    """Run all revisions up to `revision` in one transaction.

    SQLite rebuilds a table to change it, and dropping the old table would count as deleting its rows. So
    foreign keys are off meanwhile and all are checked before the commit. Raises `BrokenReferences`.
    """

    def run(connection: Connection) -> None:
        command.upgrade(config_of(connection), revision)

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


def config_of(connection: Connection | None = None) -> Config:
    """Alembic's configuration for our revisions, which run on `connection`."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config
