"""The mark of a database that is moved: what the move has done so far, kept in the database itself.

It is a table that only databases have which are being moved or were, so it is no table of the gateway. A
marked SQLite file refuses every change by triggers: gateways that serve it need no statement to find out.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any
from uuid import uuid4

from sqlalchemy import column, insert, inspect, select, table, update

from storage.clock import now
from storage.copies.sqlite_files import CopyRefused
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.searching import sqlite
from storage.tables.registry import METADATA

TABLE = "duograph_move"
_COLUMNS = ("id", "state", "address", "begun_at", "position", "copied")
_TABLE = table(TABLE, *map(column, _COLUMNS))
_CREATE = (
    f"CREATE TABLE {TABLE} (id TEXT NOT NULL, state TEXT NOT NULL, address TEXT NOT NULL, "
    "begun_at TEXT NOT NULL, position TEXT NOT NULL, copied BIGINT NOT NULL)"
)


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


@dataclass(frozen=True)
class Mark:
    """The move `id`; `address` is the other database's.

    Of a target, `position` says which rows it has (`storage/copies/copying.py`), and `copied` how many.
    """

    state: State
    address: str
    id: str = field(default_factory=lambda: uuid4().hex)
    begun_at: str = field(default_factory=lambda: now().isoformat())
    position: str = ""
    copied: int = 0

    @property
    def day(self) -> str:
        return self.begun_at.partition("T")[0]


async def read_mark(database: Database) -> Mark | None:
    """The database's mark; None if it takes part in no move."""
    async with database.read() as connection:
        if not await connection.run_sync(lambda inner: inspect(inner).has_table(TABLE)):
            return None
        row = (await connection.execute(select(_TABLE))).one()._asdict()
        return Mark(**{**row, "state": State(row["state"])})


async def set_mark(connection: Connection, mark: Mark) -> None:
    """Mark a database, in a transaction; waits for changes in progress and refuses later ones on SQLite."""
    await clear_mark(connection)
    await connection.exec_driver_sql(_CREATE)
    await connection.execute(insert(_TABLE), asdict(mark))
    if reason := _REASONS.get(mark.state):
        for name, rest in _triggers(reason):
            await connection.exec_driver_sql(f"CREATE TRIGGER {name} {rest}")


async def clear_mark(connection: Connection) -> None:
    """Let the database be changed and served as if no move had begun."""
    if connection.dialect.name == "sqlite":
        for name, _ in _triggers(""):
            await connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")
    await connection.exec_driver_sql(f"DROP TABLE IF EXISTS {TABLE}")


async def advance(connection: Connection, mark: Mark, position: Any, copied: int) -> Mark:
    """Note the new position in the transaction that reaches it. Raises `CopyRefused`."""
    after = replace(mark, position=json.dumps(position), copied=mark.copied + copied)
    same = _TABLE.c.position == mark.position
    if (await connection.execute(update(_TABLE).where(same).values(asdict(after)))).rowcount != 1:
        raise CopyRefused("Another process moves data into the same database: end it, and run this again.")
    return after


async def check_refusing(database: Database) -> None:
    """Raises `CopyRefused` unless the marked source refuses changes of every table, as it was told to."""
    async with database.read() as connection:
        rows = await connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        missing = {name for name, _ in _triggers("")} - set(rows.scalars())
    if missing:
        raise CopyRefused(
            "The database may have been changed since the move began, because triggers are missing: "
            "`duograph move --undo`, then move into a new, empty database."
        )


def own_triggers() -> frozenset[str]:
    """The definitions of all triggers that a database of ours may have."""
    own = (
        f"CREATE TRIGGER {name} {rest}" for reason in _REASONS.values() for name, rest in _triggers(reason)
    )
    return sqlite.own_triggers().union(own)


def _triggers(reason: str) -> Iterator[tuple[str, str]]:
    """The name of each trigger, and the rest of its definition."""
    for name in METADATA.tables:
        for verb in _VERBS:
            body = f"BEFORE {verb} ON {name} BEGIN SELECT RAISE(ABORT, '{reason}'); END"
            yield f"{TABLE}_{name}_{verb.lower()}", body
