"""Make the indexes of texts that a database can have; without them, searching reads every row."""

from collections.abc import Callable

from storage.engine.database import Database
from storage.searching import postgresql, sqlite


async def is_made(database: Database) -> bool:
    """Whether there is nothing to make; not so on a PostgreSQL that lacks the extensions."""
    async with database.read() as connection:
        return await (sqlite.is_made if database.is_sqlite else postgresql.is_made)(connection)


async def make(database: Database, tell: Callable[[str], None]) -> None:
    """Make what is missing, in a block of `serialized`. Writers of SQLite wait for it, if anything is."""
    if database.is_sqlite:
        if not await is_made(database):
            async with database.write() as connection:
                await sqlite.make(connection)
        return
    async with database.read() as connection:
        await postgresql.make(connection, tell)


async def lack(database: Database) -> str | None:
    """Why searching reads every row, and what to do; None if there are indexes."""
    if database.is_sqlite:
        if sqlite.has_trigrams():
            return None
        return (
            "Searching by a part of a text reads every row: use a Python whose SQLite has fts5 with its "
            "trigram tokenizer."
        )
    async with database.read() as connection:
        if await postgresql.is_made(connection):
            return None
        is_available = await postgresql.are_available(connection)
    names = " and ".join(postgresql.EXTENSIONS)
    if is_available:
        what = f"let the role create the extensions {names}, or create them, and run `duograph migrate`"
    else:
        what = f"install the extensions {names} of PostgreSQL's contrib package, and run `duograph migrate`"
    return f"Searching by a part of a text reads every row: {what}."
