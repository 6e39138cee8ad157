"""What of a question the cells of one table answer, and the values of the places in its statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Table

from storage.metrics.cells.cells import ACTIVITY, MONEY, SHARE_GRAINS, WORKSPACE_GRAINS
from storage.metrics.cells.places import Tiles, placed
from storage.metrics.cells.tiling import FIRST_EVER, Grain, Layer
from storage.metrics.reading.reader import GroupedBy, Question, Selection
from storage.metrics.sums import FactSum
from storage.tables.metrics.metric_cells import NO_SHARE


@dataclass(frozen=True)
class CellQuery:
    """The cells of `table` that a statement reads: those of `tiles`, and for states those of `before`.

    `in_one`: the cells are of one workspace; only then a row can tell whether it has deltas. `of_one`: they
    are of one share, or of the workspace as a whole. `grouped_by`: a key by which cells are added up.
    `unless_deltas`: none are read if the workspace has deltas.
    """

    dialect: str
    table: Table
    tiles: Tiles
    fact_sums: tuple[FactSum, ...]
    states: tuple[FactSum, ...] = ()
    before: Tiles | None = None
    in_one: bool = True
    of_one: bool = False
    grouped_by: GroupedBy | None = None
    unless_deltas: bool = False

    @property
    def keys(self) -> list[ColumnElement[Any]]:
        """The columns that rows begin with, before their moment."""
        if self.grouped_by is None:
            return []
        return [self.table.c.currency if self.grouped_by is GroupedBy.CURRENCY else self.table.c.share_id]

    @property
    def is_alone(self) -> bool:
        """Whether no two cells have the same moment and key."""
        if self.grouped_by is None:
            return self.in_one and self.of_one
        return self.grouped_by is GroupedBy.SHARE


class PlacedCells(NamedTuple):
    """A query, the values of its places besides the currency, and the most cells of an owner in the range."""

    query: CellQuery
    values: Mapping[str, Any]
    cells: int


def grains_of(selection: Selection) -> tuple[Grain, ...]:
    """The lengths of the cells of the selected workspaces, or of their shares."""
    return WORKSPACE_GRAINS if selection.share_ids is None else SHARE_GRAINS


def placed_cells(
    dialect: str,
    selection: Selection,
    question: Question,
    prefix: str = "",
    layers: tuple[Layer, ...] | None = None,
    *,
    unless_deltas: bool = False,
) -> list[PlacedCells]:
    """A query for each table that has some of the sums; with `layers`, only these cells are read."""
    edges, grains = tuple(question.edges), grains_of(selection)
    tiles, values, cells = placed(dialect, edges, grains, prefix, layers)
    shares = [NO_SHARE] if selection.share_ids is None else selection.share_ids
    owners = {**values, **_named("workspace_id", selection.workspace_ids), **_named("share_id", shares)}
    asked = []
    for table in (ACTIVITY, MONEY):
        own = tuple(each for each in question.fact_sums if each.in_currency == (table is MONEY))
        states, before = tuple(question.states) if table is ACTIVITY else (), None
        if states:
            before, earlier, _ = placed(dialect, (FIRST_EVER, edges[0]), grains, f"{prefix}before_")
            owners |= earlier
        query = CellQuery(
            dialect,
            table,
            tiles,
            own,
            states,
            before,
            in_one="workspace_id" in owners,
            of_one="share_id" in owners,
            grouped_by=question.grouped_by,
            unless_deltas=unless_deltas,
        )
        if own:
            asked.append(PlacedCells(query, owners, cells))
    return asked


def _named(name: str, ids: Sequence[Any]) -> dict[str, Any]:
    """The value of the place for one id, or of that for several."""
    return {name: ids[0]} if len(ids) == 1 else {f"{name}s": list(ids)}
