"""Positions of changes: numbers that grow in the order in which a reader may see the changes.

A position is given under the workspace's lock by a transaction that sees the change, never by the one that
makes it: no writer waits for another, and no change gets a position below one that a reader has seen.
SQLite has one writer, which numbers its changes itself.
"""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import BigInteger, Table, Update, Uuid, bindparam, cast, func, insert, select, update

from storage.engine.connections import Connection, SqliteThread
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.ledger.workspace_lock import lock_workspace
from storage.tables.base import Values, table_of
from storage.tables.changes import ChangeRow

_table = table_of(ChangeRow)
_HOME = bindparam("home", type_=Uuid())
_last = (
    select(func.coalesce(func.max(_table.c.position), 0))
    .where(_table.c.workspace_id == _HOME)
    .scalar_subquery()
)


def _inserting() -> Kept:
    values = [
        _last + 1 if each.name == "position" else bindparam(each.name, type_=each.type) for each in _table.c
    ]
    return Kept(insert(_table).from_select(_table.c.keys(), select(*values)))


def _numbering() -> Update:
    """The first of the changes that wait get the next numbers, in the order of their moments."""
    order = func.row_number().over(order_by=(_table.c.at, _table.c.id))
    waiting = (
        select(_table.c.id, (_last + cast(order, BigInteger)).label("number"))
        .where(_table.c.workspace_id == _HOME, _table.c.position.is_(None))
        .order_by(_table.c.at, _table.c.id)
        .limit(bindparam("most"))
        .subquery("waiting")
    )
    mine = (_table.c.workspace_id == _HOME) & (_table.c.id == waiting.c.id)
    return update(_table).where(mine).values(position=waiting.c.number).returning(_table.c.id)


_INSERTING = _inserting()
_NUMBERING = Kept(_numbering())
_IS_WAITING = Kept(
    select(_table.c.id).where(_table.c.workspace_id == _HOME, _table.c.position.is_(None)).limit(1)
)
_NEWEST = Kept(select(_last))
MOST_AT_A_TIME = 1_000
# A fold holds the lock for milliseconds; who counts a workspace again may hold it for minutes.
MOST_TRIES, SECONDS_BETWEEN_TRIES = 50, 0.02


def insert_numbered(connection: SqliteThread, table: Table, rows: Sequence[Values]) -> None:
    """Insert changes with the next positions, together with the next statement or the COMMIT."""
    written = _INSERTING.on(connection.dialect)
    arguments = [written.arguments({**row, _HOME.key: row["workspace_id"]}) for row in rows]
    connection.put_off(written.text, arguments)


async def number_changes(connection: Connection, workspace_id: UUID, most: int) -> int:
    """Give up to `most` changes of a workspace, which is locked, their positions; returns how many."""
    return len(await connection.fetch(_NUMBERING, {"home": workspace_id, "most": most}))


async def number_waiting(database: Database, workspace_id: UUID) -> None:
    """Number what waits in a workspace. If its lock is held for long, that is left to its holder."""
    for _ in range(MOST_TRIES):
        if not await database.fetch(_IS_WAITING, {"home": workspace_id}):
            return
        async with database.write() as connection:
            is_locked = await lock_workspace(connection, workspace_id)
            if is_locked:
                await number_changes(connection, workspace_id, MOST_AT_A_TIME)
        if not is_locked:
            await asyncio.sleep(SECONDS_BETWEEN_TRIES)


async def number_own(connection: Connection, workspace_id: UUID) -> bool:
    """Number what waits in a workspace, in the open transaction; False if another one holds its lock."""
    if connection.dialect.name == "sqlite":
        return True
    if not await lock_workspace(connection, workspace_id):
        return False
    await number_changes(connection, workspace_id, MOST_AT_A_TIME)
    return True


async def newest_position(connection: Connection, workspace_id: UUID) -> int:
    """The position of the newest change of a workspace, after numbering what waits; of none, 0.

    If another transaction numbers changes at the same time, they may get later positions.
    """
    await number_own(connection, workspace_id)
    ((position,),) = await connection.fetch(_NEWEST, {"home": workspace_id})
    return int(position)
