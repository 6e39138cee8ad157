"""The background task that brings deltas into the cells of metrics and into the totals of lists.

It also gives the changes of the change log their positions.
"""

from collections.abc import Sequence
from time import monotonic, perf_counter
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Table, bindparam, select, union_all

from storage.changes.numbering import number_changes
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.ledger.folding import Folded, fold
from storage.ledger.workspace_lock import lock_workspace
from storage.metrics.cells.merges import fold_merge
from storage.metrics.packs.ledger import CELLS
from storage.tables.base import table_of
from storage.tables.changes import ChangeRow
from storage.tables.metrics.metric_cells import PersonMergeDeltaRow
from storage.totals.events import EVENTS
from storage.totals.lists import LISTS

# Of a piece, as rows that are written: a piece of more would hold the lock for long.
MOST_ROWS = 1_000
# SQLite has one writer: a fold that holds the lock for long would block all other writers.
FEWEST_ON_SQLITE, _SECONDS_ON_SQLITE = 50, 0.015
# PostgreSQL combines deltas before it returns them: if few rows are left, a piece takes as many deltas.
MOST_DELTAS = 10_000

LEDGERS = (CELLS, LISTS, EVENTS)
_BEFORE_ALL = UUID(int=0)
# A cluster asks every node to find what other processes wrote, and left when they ended.
SECONDS_BETWEEN_SWEEPS = 30


def _first_after(table: Table, *where: ColumnElement[bool]) -> Select[UUID]:
    key = table.c.workspace_id
    first = select(key).where(key > bindparam("last"), *where).order_by(key).limit(1).subquery()
    return select(first.c.workspace_id)


_DELTAS = (*(ledger.deltas for ledger in LEDGERS), table_of(PersonMergeDeltaRow))
_changes = table_of(ChangeRow)
_WAITING = union_all(
    *map(_first_after, _DELTAS), _first_after(_changes, _changes.c.position.is_(None))
).subquery()
_FIRST_AFTER = Kept(select(_WAITING.c.workspace_id).order_by(_WAITING.c.workspace_id).limit(1))


class Fold:
    """Folds one database piece by piece, in rounds that come to each workspace with something waiting.

    A round begins with the workspaces that this process wrote to. Then it sweeps all workspaces, unless the
    last sweep ended less than `seconds_between_sweeps` ago; SQLite, where nothing is noted, is always swept.

    Several processes may fold at once: a workspace is locked while a piece of it is folded, and the others
    come back to it in their next round.
    """

    def __init__(self, database: Database, seconds_between_sweeps: float = 0) -> None:
        self._database = database
        self._seconds = 0 if database.is_sqlite else seconds_between_sweeps
        self._last = _BEFORE_ALL
        self._next_sweep = monotonic()
        # What is left of the workspaces that begin the round; None before a round.
        self._noted: list[UUID] | None = None
        self._fewest, self._most = (
            (FEWEST_ON_SQLITE, MOST_ROWS) if database.is_sqlite else (MOST_ROWS, MOST_DELTAS)
        )
        # How many deltas the next piece takes, by workspace: those of one may combine, and those of another
        # not. SQLite, which combines none, has one number for all.
        self._sizes: dict[UUID | None, int] = {}
        self._is_behind = False
        self._sweep_began = self._folded_until = monotonic()

    @property
    def lag(self) -> float:
        """Seconds since the last sweep began that left nothing behind: what was written before is folded."""
        return monotonic() - self._folded_until

    async def run(self) -> bool:
        """Fold a piece of the next workspace with something waiting; without one, end the round.

        Returns False at the end of a round that left nothing behind. Facts that arrive later may wait and
        gather: a piece of few rows takes hardly less time than one of many. After an error the next call
        goes on with the next workspace; the failed one waits for a sweep.
        """
        workspace_id = await self._next()
        if workspace_id is None:
            is_behind, self._is_behind = self._is_behind, False
            return is_behind
        of = None if self._database.is_sqlite else workspace_id
        size = self._sizes.pop(of, self._fewest)
        async with self._database.write() as connection:
            begun = perf_counter()
            if not await lock_workspace(connection, workspace_id):
                self._database.note_unfolded((workspace_id,))
                return True
            folded = [await fold(connection, ledger, workspace_id, size) for ledger in LEDGERS]
            changes = min(size, MOST_ROWS)
            numbered = await number_changes(connection, workspace_id, changes)
            had_merge = await fold_merge(connection, workspace_id)
        is_full = any(each.deltas == size for each in folded)
        if is_full or numbered == changes or had_merge:
            self._is_behind = True
            self._database.note_unfolded((workspace_id,))
        if is_full:
            self._sizes[of] = self._fitting(size, folded, perf_counter() - begun)
        elif of is None:
            self._sizes[of] = size
        return True

    def _fitting(self, size: int, folded: Sequence[Folded], seconds: float) -> int:
        """The deltas of the next piece, after a full one that took so long."""
        if self._database.is_sqlite:
            part = _SECONDS_ON_SQLITE / seconds
        else:
            part = MOST_ROWS / max(each.rows for each in folded)
        return min(max(round(size * part), self._fewest), self._most, size * 2)

    async def _next(self) -> UUID | None:
        """The next workspace of the round; None at its end."""
        if self._noted is None:
            self._noted = self._database.take_unfolded()
        if self._noted:
            return self._noted.pop()
        workspace_id = await self._swept() if monotonic() >= self._next_sweep else None
        if workspace_id is None:
            self._noted = None
        return workspace_id

    async def _swept(self) -> UUID | None:
        """The next workspace with something waiting, in the order of ids; None at the end of the sweep."""
        ids = []
        if self._last == _BEFORE_ALL:
            self._sweep_began = monotonic()
        try:
            rows = await self._database.fetch(_FIRST_AFTER, {"last": self._last})
            ids = [id for (id,) in self._database.converted(_FIRST_AFTER, rows)]
        finally:
            # With a node down every sweep fails; what was noted does not wait for it.
            if not ids:
                self._noted, self._next_sweep = None, monotonic() + self._seconds
            self._last = ids[0] if ids else _BEFORE_ALL
        if not ids and not self._is_behind:
            self._folded_until = self._sweep_began
        return ids[0] if ids else None
