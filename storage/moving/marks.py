"""The mark of a database that is moved: what the move has done so far, kept in the database itself.

It is a table that only databases have which are being moved or were, so it is no table of the gateway. A
marked SQLite file refuses every change by triggers: gateways that serve it need no statement to find out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import uuid4

from sqlalchemy import Select, column, insert, inspect, select, table, update

from storage.clock import now
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.tables.registry import METADATA

TABLE = "duograph_move"
_COLUMNS = ("id", "state", "address", "begun_at", "position", "copied")
_TABLE = table(TABLE, *map(column, _COLUMNS))
_READ: Select[Any] = select(_TABLE)
_CREATE = (
    f"CREATE TABLE {TABLE} (id TEXT NOT NULL, state TEXT NOT NULL, address TEXT NOT NULL, "
    "begun_at TEXT NOT NULL, position TEXT NOT NULL, copied BIGINT NOT NULL)"
)
_INSERT = insert(_TABLE)


class State(StrEnum):
    """What a marked database is: the source before and after the end of a move, or its target."""

    MOVING = "moving"
    MOVED = "moved"
    RECEIVING = "receiving"


_REASONS = {
    State.MOVING: "The data is being moved to another database. It can be changed again once that is done.",
    State.MOVED: "The data was moved to another database. This copy of it cannot be changed.",
}
_VERBS = ("INSERT", "UPDATE", "DELETE")


class MoveDisturbed(Exception):
    """Something else has changed what the move relies on; the message says what, and what to do."""


@dataclass(frozen=True)
class Mark:
    """The move `id`; `address` is the other database's.

    Of a target, `position` says which rows it has (`storage/moving/copying.py`), and `copied` how many.
    """

    id: str
    state: State
    address: str
    begun_at: str
    position: str = ""
    copied: int = 0

    @property
    def day(self) -> str:
        return datetime.fromisoformat(self.begun_at).date().isoformat()


def new_mark(state: State, address: str, id: str | None = None) -> Mark:
    return Mark(id or uuid4().hex, state, address, now().isoformat())


async def read_mark(database: Database) -> Mark | None:
    """The database's mark; None if it takes part in no move."""
    async with database.read() as connection:
        if not await connection.run_sync(lambda inner: inspect(inner).has_table(TABLE)):
            return None
        id, state, *others = (await connection.execute(_READ)).one()
        return Mark(id, State(state), *others)


async def set_mark(connection: Connection, mark: Mark) -> None:
    """Mark a database, in a transaction; waits for changes in progress and refuses later ones on SQLite."""
    await clear_mark(connection)
    await connection.exec_driver_sql(_CREATE)
    await connection.execute(_INSERT, {name: getattr(mark, name) for name in _COLUMNS})
    if reason := _REASONS.get(mark.state):
        for name, rest in _triggers(reason):
            await connection.exec_driver_sql(f"CREATE TRIGGER {name} {rest}")


async def clear_mark(connection: Connection) -> None:
    """Let the database be changed and served as if no move had begun."""
    if connection.dialect.name == "sqlite":
        for name, _ in _triggers(""):
            await connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")
    await connection.exec_driver_sql(f"DROP TABLE IF EXISTS {TABLE}")


async def advance(connection: Connection, before: Mark, after: Mark) -> None:
    """Note the new position in the transaction that reaches it. Raises `MoveDisturbed`."""
    advanced = (
        update(_TABLE)
        .where(_TABLE.c.position == before.position)
        .values(position=after.position, copied=after.copied)
    )
    if (await connection.execute(advanced)).rowcount != 1:
        raise MoveDisturbed("Another process moves data into the same database: end it, and run this again.")


async def check_refusing(database: Database) -> None:
    """Raises `MoveDisturbed` unless the marked source refuses changes of every table, as it was told to."""
    async with database.read() as connection:
        rows = await connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        missing = {name for name, _ in _triggers("")} - set(rows.scalars())
    if missing:
        raise MoveDisturbed(
            "The database may have been changed since the move began, because triggers are missing: "
            "`duograph move --undo`, then move into a new, empty database."
        )


def _triggers(reason: str) -> Iterator[tuple[str, str]]:
    """The name of each trigger, and the rest of its definition."""
    for name in METADATA.tables:
        for verb in _VERBS:
            body = f"BEFORE {verb} ON {name} BEGIN SELECT RAISE(ABORT, '{reason}'); END"
            yield f"{TABLE}_{name}_{verb.lower()}", body
