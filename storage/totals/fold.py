"""Folding: moves deltas into the totals, so that a read adds up few of them. SQLite has no deltas."""

from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Uuid, bindparam, delete, func, select, tuple_

from storage.engine.connections import Connection
from storage.totals.changes import adding
from storage.totals.tallies import ALL_DELTAS, TALLIES, Deltas

DELTAS = tuple(deltas.table for deltas in ALL_DELTAS)


async def fold_totals(connection: Connection, workspace_id: UUID, most: int) -> int:
    """Move up to `most` deltas of each kind of a workspace, which is locked; returns the largest number.

    Without the lock, two folds could update the same totals in different orders, and wait for each other.
    """
    if connection.dialect.name == "sqlite":
        return 0
    numbers = [0]
    for deltas in ALL_DELTAS:
        folded = await connection.execute(_fold(deltas), {"home": workspace_id, "most": most})
        numbers.append(folded.scalar_one())
    return max(numbers)


@cache
def _fold(deltas: Deltas) -> Select[Any]:
    """The PostgreSQL statement that deletes deltas, adds them to their totals and returns their number."""
    table = deltas.table
    key = tuple_(*table.primary_key.columns)
    home = table.c.workspace_id == bindparam("home", type_=Uuid())
    some = select(*table.primary_key.columns).where(home).limit(bindparam("most"))
    taken = delete(table).where(home, key.in_(some)).returning(table).cte("taken")
    statement = select(func.count()).select_from(taken)
    for tally in TALLIES:
        if tally.deltas is deltas:
            rows = tally.combined(tally.spread(taken))
            into = adding("postgresql", tally).from_select(tally.columns, rows)
            statement = statement.add_cte(into.cte(f"into_{tally.totals.name}"))
    return statement
