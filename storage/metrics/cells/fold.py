"""The fold: moves deltas into the cells, one workspace and up to a thousand rows at a time."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from time import perf_counter
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import Select, Table, bindparam, delete, func, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.database import Database
from storage.dialects.upsert import Upsert, upsert
from storage.metrics.cells.cells import ACTIVITY, MONEY, Cells, LoggedFact
from storage.metrics.cells.merges import fold_merge, merges_of
from storage.metrics.cells.person_cells import read_bitmaps, write_bitmaps
from storage.metrics.cells.tiling import CellKey
from storage.rows import Values, table_of
from storage.tables.metric_cells import MetricDeltaRow, PersonMergeDeltaRow

MOST_ROWS, FEWEST_ROWS = 1_000, 50
# SQLite has one writer: a fold that holds the lock for long would block all other writers.
_SECONDS_ON_SQLITE = 0.015

_deltas = table_of(MetricDeltaRow)
_merge_deltas = table_of(PersonMergeDeltaRow)
_BEFORE_ALL = UUID(int=0)

# Deletes some deltas of a workspace and returns them.
_OF_HOME = _deltas.c.workspace_id == bindparam("home")
_SOME = select(_deltas.c.id).where(_OF_HOME).limit(bindparam("most"))
_TAKE = delete(_deltas).where(_OF_HOME, _deltas.c.id.in_(_SOME)).returning(_deltas)


def _first_after(table: Table) -> Select[UUID]:
    key = table.c.workspace_id
    first = select(key).where(key > bindparam("last")).order_by(key).limit(1).subquery()
    return select(first.c.workspace_id)


_WAITING = union_all(_first_after(_deltas), _first_after(_merge_deltas)).subquery()
_FIRST_AFTER = select(_WAITING.c.workspace_id).order_by(_WAITING.c.workspace_id).limit(1)


class Fold:
    """Folds one database piece by piece, taking the workspaces in turn.

    Several processes may fold at once: a workspace is locked while a piece of it is folded, and the others
    skip it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last = _BEFORE_ALL
        self._rows = FEWEST_ROWS if database.is_sqlite else MOST_ROWS
        self._is_behind = False

    async def run(self) -> bool:
        """Fold a piece of the next workspace that has deltas or merges; without one, end the round.

        Returns False at the end of a round that left nothing behind. Facts that arrive later may wait and
        gather: a piece of few rows takes hardly less time than one of many.
        """
        workspace_id = await self._next()
        self._last = workspace_id or _BEFORE_ALL
        if workspace_id is None:
            is_behind, self._is_behind = self._is_behind, False
            return is_behind
        async with self._database.write() as connection:
            begun = perf_counter()
            if not await lock_cells(connection, workspace_id):
                return True
            many = await fold_deltas(connection, workspace_id, self._rows)
            had_merge = await fold_merge(connection, workspace_id)
        self._is_behind |= many == self._rows or had_merge
        if self._database.is_sqlite and many == self._rows:
            fitting = round(self._rows * _SECONDS_ON_SQLITE / (perf_counter() - begun))
            self._rows = min(max(fitting, FEWEST_ROWS), MOST_ROWS, self._rows * 2)
        return True

    async def _next(self) -> UUID | None:
        """The next workspace with deltas or merges, in the order of ids."""
        async with self._database.read() as connection:
            id: UUID | None = (await connection.execute(_FIRST_AFTER, {"last": self._last})).scalar()
        return id


async def lock_cells(connection: AsyncConnection, workspace_id: UUID, *, wait: bool = False) -> bool:
    """Lock the cells of a workspace until the transaction ends; False if another one holds the lock.

    With `wait`, wait for the lock instead.
    """
    if connection.dialect.name == "sqlite":
        return True
    lock = func.pg_advisory_xact_lock if wait else func.pg_try_advisory_xact_lock
    return (await connection.execute(select(lock(workspace_id.int >> 65)))).scalar() is not False


async def fold_deltas(connection: AsyncConnection, workspace_id: UUID, most: int) -> int:
    """Move up to `most` deltas of a workspace, whose cells are locked, into its cells; returns the number."""
    deltas = await connection.execute(_TAKE, {"home": workspace_id, "most": most})
    facts = deltas.mappings().all()
    await add_to_cells(connection, workspace_id, facts)
    return len(facts)


async def add_to_cells(connection: AsyncConnection, workspace_id: UUID, facts: Iterable[LoggedFact]) -> None:
    """Add rows of the log to the cells of their workspace, whose cells are locked."""
    cells = Cells(workspace_id)
    cells.add(facts)
    for table in (ACTIVITY, MONEY):
        await _add_cells(connection, table, cells.rows(table))
    if cells.numbers:
        merges = await merges_of(connection, workspace_id, cells.numbers)
        await _add_persons(connection, workspace_id, cells.persons(merges))


async def _add_cells(connection: AsyncConnection, table: Table, rows: Sequence[Values]) -> None:
    if rows:
        await connection.execute(_adding(connection.dialect.name, table), rows)


@cache
def _adding(dialect: str, table: Table) -> Upsert:
    statement = upsert(dialect, table)
    keys = list(table.primary_key.columns)
    added = {
        column.name: column + statement.excluded[column.name] for column in table.c if column not in keys
    }
    return statement.on_conflict_do_update(index_elements=keys, set_=added)


async def _add_persons(
    connection: AsyncConnection, workspace_id: UUID, added: Mapping[CellKey, BitMap]
) -> None:
    bitmaps = await read_bitmaps(connection, workspace_id, list(added))
    for key, persons in added.items():
        bitmaps[key] = bitmaps[key] | persons if key in bitmaps else persons
    await write_bitmaps(connection, workspace_id, bitmaps)
