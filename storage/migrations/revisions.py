"""The revisions that exist and the one that a database has. Only migrating needs to import Alembic."""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from storage.engine.database import Database

# The name of a revision's file begins with the revision: `0001_the_first_tables.py`.
_REVISIONS = frozenset(
    path.name.partition("_")[0] for path in (Path(__file__).parent / "versions").glob("[0-9]*.py")
)

# What upgrades a database that is older than our oldest revision: the commit's newest one is our oldest.
COMMIT_OF_OLDEST = "c144c91"


def newest_revision() -> str:
    return max(_REVISIONS)


def next_revision() -> str:
    """The revision that is written next; some numbers before ours have no file any more."""
    return f"{int(newest_revision()) + 1:04}"


def revision_after(revision: str | None) -> str | None:
    """The revision that follows; None after the newest one."""
    return min((each for each in _REVISIONS if revision is None or each > revision), default=None)


def is_known(revision: str | None) -> bool:
    """Whether a database at this revision can be upgraded to the newest one."""
    return revision is None or revision in _REVISIONS


def is_newer(revision: str | None) -> bool:
    """Whether the revision is one of a newer version."""
    return revision is not None and revision not in _REVISIONS and revision > min(_REVISIONS)


async def current_revision(database: Database) -> str | None:
    """The database's revision; None if it is empty."""

    def read(connection: Connection) -> str | None:
        if not inspect(connection).has_table("alembic_version"):
            return None
        revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
        return revision

    async with database.engine.connect() as connection:
        return await connection.run_sync(read)
