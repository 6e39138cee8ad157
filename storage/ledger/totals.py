"""Books that are tables of totals by key."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    Table,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    union_all,
)

from storage.engine.connections import Connection
from storage.engine.upserts import upsert_all
from storage.ledger.books import (
    Combination,
    Combinations,
    CombineRows,
    Ledger,
    Row,
    Together,
    Verification,
    Workspaces,
    of_workspace,
    rows_combined,
)
from storage.tables.base import Values


@dataclass(frozen=True, eq=False)
class Totals:
    """A table whose key begins with the workspace, and whose other columns are totals.

    `spread` makes rows with the columns of the table from those of deltas; equal keys are combined later.
    `rows_of` does so in Python for deltas of a workspace, and combines equal keys. `is_coarse`: several rows
    of a recount have the same key too.
    """

    table: Table
    combinations: Combinations = field(default_factory=dict)
    spread: Callable[[FromClause], FromClause] = lambda deltas: deltas
    rows_of: Callable[[Sequence[Values]], Iterable[Row]] | None = None
    is_coarse: bool = False

    @cached_property
    def keys(self) -> list[str]:
        """The columns of a key, beginning with `workspace_id`."""
        return [column.name for column in self.table.primary_key.columns]

    @cached_property
    def values(self) -> list[str]:
        """The other columns."""
        return [column.name for column in self.table.c if not column.primary_key]

    async def add(self, connection: Connection, workspace_id: UUID, deltas: Sequence[Values]) -> None:
        await self.add_rows(connection, deltas)

    async def add_rows(self, connection: Connection, deltas: Sequence[Values]) -> None:
        """The same for deltas of any workspaces, whose totals are written in their order."""
        rows = list(self._together(deltas) if self.rows_of is None else self.rows_of(deltas))
        await upsert_all(connection, self.table, rows, self._combine)

    async def compare(self, connection: Connection, ledger: Ledger, workspace_id: UUID) -> Verification:
        return await self.compare_in(connection, ledger, of_workspace(workspace_id))

    async def compare_in(
        self, connection: Connection, ledger: Ledger, workspaces: Workspaces
    ) -> Verification:
        """The same for several workspaces."""
        keys = self.compared(ledger, workspaces).subquery().c
        numbers = select(func.count().filter(keys.is_kept), func.count().filter(keys.differs))
        return Verification(*(await connection.execute(numbers)).one())

    def compared(self, ledger: Ledger, workspaces: Workspaces) -> Select[Any]:
        """The keys, with `is_kept` and `differs` for each: from the recount."""
        columns = self.table.c
        is_any = or_(*(columns[name] != 0 for name in self._sums))
        here = select(self.table).where(workspaces(columns.workspace_id), is_any).subquery()
        kept = here, self.spread(ledger.waiting(workspaces))
        sides = [self._side(rows, 1) for rows in kept]
        sides.append(self._side(self.spread(ledger.recount(workspaces)), -1))
        rows = union_all(*sides).subquery()
        by = [rows.c[name] for name in self.keys]
        differs = (self._combination(name).differs(rows.c[name], rows.c.side) for name in self.values)
        is_kept = (func.max(rows.c.side) == 1).label("is_kept")
        return select(*by, is_kept, or_(*differs).label("differs")).group_by(*by)

    def _side(self, rows: FromClause, side: int) -> Select[Any]:
        """Rows of what is kept, side 1, or of what is counted, side -1, with their sums negated."""
        values = (
            (-rows.c[name] if side < 0 and name in self._sums else rows.c[name]).label(name)
            for name in self.values
        )
        return select(*(rows.c[name] for name in self.keys), *values, literal(side).label("side"))

    async def rebuild(self, connection: Connection, ledger: Ledger, workspace_id: UUID) -> int:
        here = of_workspace(workspace_id)
        own = here(self.table.c.workspace_id)
        await connection.execute(delete(self.table).where(own))
        rows, names = self.spread(ledger.recount(here)), [*self.keys, *self.values]
        counted = self._combined(rows) if self.is_coarse else select(*(rows.c[name] for name in names))
        await connection.execute(insert(self.table).from_select(names, counted))
        number: int = (
            await connection.execute(select(func.count()).select_from(self.table).where(own))
        ).scalar_one()
        return number

    def kept(self, ledger: Ledger, workspaces: Workspaces, keys: Sequence[str] | None = None) -> Select[Any]:
        """The totals with the deltas that wait, by their keys or some of these; those of 0 are left out."""
        here = select(self.table).where(workspaces(self.table.c.workspace_id)).subquery()
        waiting = self.spread(ledger.waiting(workspaces))
        names = [*self.keys, *self.values]
        rows = union_all(*(select(*(each.c[name] for name in names)) for each in (here, waiting)))
        return self._combined(rows.subquery(), keys)

    def _combined(self, rows: FromClause, keys: Sequence[str] | None = None) -> Select[Any]:
        by = [rows.c[name] for name in (self.keys if keys is None else keys)]
        combined = [self._combination(name).of_rows(rows.c[name]) for name in self.values]
        is_any = or_(*(func.sum(rows.c[name]) != 0 for name in self._sums))
        return select(*by, *combined).group_by(*by).having(is_any)

    @cached_property
    def _combine_rows(self) -> CombineRows:
        return rows_combined(self.values, self.combinations)

    @cached_property
    def _sums(self) -> list[str]:
        return [name for name in self.values if self._combination(name) is Combination.SUM]

    def _combination(self, name: str) -> Combination:
        return self.combinations.get(name, Combination.SUM)

    def _combine(self, there: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
        return self._combination(new.key or "").of_columns(there, new)

    def _together(self, deltas: Iterable[Values]) -> Iterator[Row]:
        together = Together(self._combine_rows)
        for delta in deltas:
            key = tuple([delta[name] for name in self.keys])
            together.add(key, tuple([delta[name] for name in self.values]))
        return (key + values for key, values in together.rows.items())
