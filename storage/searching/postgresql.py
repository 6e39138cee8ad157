"""PostgreSQL's indexes of trigrams, which begin with the workspace: GIN by `pg_trgm` and `btree_gin`."""

from collections.abc import Callable

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from storage.engine.connections import Connection
from storage.searching.texts import SEARCHED, Searched

EXTENSIONS = ("pg_trgm", "btree_gin")
# What waits in an index's list is read by each search: PostgreSQL's default, 4 MB, would take 10 ms.
KILOBYTES_WAITING = 256

_MISSING = (
    "SELECT count(*) FROM unnest($1::text[]) AS name WHERE name NOT IN (SELECT extname FROM pg_extension)"
)
_AVAILABLE = "SELECT count(*) FROM pg_available_extensions WHERE name = ANY ($1::text[])"
_BUILT = text(
    "SELECT relname, indisvalid FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid "
    "WHERE pg_class.oid = ANY (SELECT to_regclass(name) FROM unnest(CAST(:names AS text[])) AS name)"
)


async def are_available(connection: Connection) -> bool:
    """Whether the server has the extensions, in this database or to be created."""
    names = list(EXTENSIONS)
    found = (await connection.exec_driver_sql(_AVAILABLE, (names,))).scalar_one()
    return int(found) == len(EXTENSIONS)


async def is_made(connection: Connection) -> bool:
    return len([is_valid for is_valid in (await _built(connection)).values() if is_valid]) == len(SEARCHED)


async def make(connection: Connection, tell: Callable[[str], None]) -> None:
    """Build the indexes that are missing while others change the tables, if the extensions can be had.

    Each statement commits by itself, and what an interrupted attempt left is replaced.
    """
    if not await _has_extensions(connection):
        return
    built = await _built(connection)
    for searched in SEARCHED:
        if built.get(searched.index) is False:
            await connection.exec_driver_sql(f"DROP INDEX CONCURRENTLY {searched.index}")
        if not built.get(searched.index):
            tell(f"Building {searched.index} while {searched.table.name} is in use.")
            await connection.exec_driver_sql(_create(searched))


async def drop(connection: Connection) -> None:
    """Drop the indexes: a table that is filled gets them faster afterwards."""
    for searched in SEARCHED:
        await connection.exec_driver_sql(f"DROP INDEX IF EXISTS {searched.index}")


def _create(searched: Searched) -> str:
    texts = ", ".join(f"{name} gin_trgm_ops" for name in searched.texts)
    kept = " WHERE deleted_at IS NULL" if searched.is_deleted_softly else ""
    return (
        f"CREATE INDEX CONCURRENTLY {searched.index} ON {searched.table.name} "
        f"USING gin (workspace_id, {texts}) WITH (gin_pending_list_limit = {KILOBYTES_WAITING}){kept}"
    )


async def _has_extensions(connection: Connection) -> bool:
    """Whether the database has the extensions; those that can be created are."""
    if not (await connection.exec_driver_sql(_MISSING, (list(EXTENSIONS),))).scalar_one():
        return True
    if not await are_available(connection):
        return False
    try:
        for name in EXTENSIONS:
            await connection.exec_driver_sql(f"CREATE EXTENSION IF NOT EXISTS {name}")
    except DBAPIError:
        # The role may not, or a node of a cluster lacks it.
        return False
    return True


async def _built(connection: Connection) -> dict[str, bool]:
    """Whether each index that there is can be used."""
    names = [searched.index for searched in SEARCHED]
    return dict(map(tuple, (await connection.execute(_BUILT, {"names": names})).all()))
