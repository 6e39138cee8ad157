"""`python -m storage.migrations.revise MESSAGE`: write the revision for changed tables."""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from storage.database import Database
from storage.migrations.run import new_revision, upgrade


async def revise(message: str) -> None:
    """Compare an empty database at the newest revision with the tables, and write their difference."""
    with TemporaryDirectory() as folder:
        database = Database(f"sqlite+aiosqlite:///{Path(folder) / 'revise.sqlite'}")
        await upgrade(database)
        await new_revision(database, message)
        await database.close()


if __name__ == "__main__":
    asyncio.run(revise(" ".join(sys.argv[1:])))
