"""Folding: moves deltas into the totals, so that a read adds up few of them. SQLite has no deltas."""

from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Uuid, bindparam, delete, func, select, tuple_

from storage.connections import Connection
from storage.totals.changes import adding
from storage.totals.tallies import TALLIES, Tally

DELTAS = tuple(tally.deltas for tally in TALLIES)


async def fold_totals(connection: Connection, workspace_id: UUID, most: int) -> int:
    """Move up to `most` deltas of each tally of a workspace, which is locked; returns the largest number.

    Without the lock, two folds could update the same totals in different orders, and wait for each other.
    """
    if connection.dialect.name == "sqlite":
        return 0
    numbers = [0]
    for tally in TALLIES:
        folded = await connection.execute(_fold(tally), {"home": workspace_id, "most": most})
        numbers.append(folded.scalar_one())
    return max(numbers)


@cache
def _fold(tally: Tally) -> Select[Any]:
    """Deletes deltas, adds them to the totals and returns their number, in one statement of PostgreSQL's."""
    deltas = tally.deltas
    key = tuple_(*deltas.primary_key.columns)
    home = deltas.c.workspace_id == bindparam("home", type_=Uuid())
    some = select(*deltas.primary_key.columns).where(home).limit(bindparam("most"))
    taken = delete(deltas).where(home, key.in_(some)).returning(deltas).cte("taken")
    keys = [taken.c[column] for column in ("workspace_id", *tally.keys)]
    sums = [combination.of_rows(taken.c[name]) for name, combination in tally.combinations.items()]
    rows = select(*keys, *sums).group_by(*keys)
    names = [column.name for column in rows.selected_columns]
    added = adding("postgresql", tally).from_select(names, rows).cte("added")
    return select(func.count()).select_from(taken).add_cte(added)
