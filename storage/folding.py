"""The background task that brings deltas into the cells of metrics and into the totals of lists."""

from time import perf_counter
from uuid import UUID

from sqlalchemy import Select, Table, bindparam, select, union_all

from storage.database import Database
from storage.metrics.cells.fold import fold_deltas
from storage.metrics.cells.merges import fold_merge
from storage.rows import table_of
from storage.tables.metric_cells import MetricDeltaRow, PersonMergeDeltaRow
from storage.totals.fold import DELTAS, fold_totals
from storage.workspace_lock import lock_workspace

MOST_ROWS, FEWEST_ROWS = 1_000, 50
# SQLite has one writer: a fold that holds the lock for long would block all other writers.
_SECONDS_ON_SQLITE = 0.015

_BEFORE_ALL = UUID(int=0)


def _first_after(table: Table) -> Select[UUID]:
    key = table.c.workspace_id
    first = select(key).where(key > bindparam("last")).order_by(key).limit(1).subquery()
    return select(first.c.workspace_id)


_WAITING = union_all(
    *map(_first_after, (table_of(MetricDeltaRow), table_of(PersonMergeDeltaRow), *DELTAS))
).subquery()
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
        """Fold a piece of the next workspace with something waiting; without one, end the round.

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
            if not await lock_workspace(connection, workspace_id):
                return True
            many = await fold_deltas(connection, workspace_id, self._rows)
            had_merge = await fold_merge(connection, workspace_id)
            many = max(many, await fold_totals(connection, workspace_id, self._rows))
        self._is_behind |= many == self._rows or had_merge
        if self._database.is_sqlite and many == self._rows:
            fitting = round(self._rows * _SECONDS_ON_SQLITE / (perf_counter() - begun))
            self._rows = min(max(fitting, FEWEST_ROWS), MOST_ROWS, self._rows * 2)
        return True

    async def _next(self) -> UUID | None:
        """The next workspace with something waiting, in the order of ids."""
        async with self._database.read() as connection:
            id: UUID | None = (await connection.execute(_FIRST_AFTER, {"last": self._last})).scalar()
        return id
