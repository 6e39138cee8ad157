"""The places of kept statements about a range: what its form depends on, and the values of its edges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, BindParameter, ColumnElement, Table, and_, bindparam, literal, select

from storage.caches import cached
from storage.dialects.number_lists import as_numbers, numbers_named
from storage.metrics.cells.period_sql import Run, edge_in, few_runs, runs
from storage.metrics.cells.tiling import REMEMBERED_BYTES, Grain, Layer, make_cover

# A moment is an integer of 32 bytes and its place in a tuple or list.
BYTES_OF_ONE, BYTES_OF_A_MOMENT = 2_000, 40


class LayerForm(NamedTuple):
    """Cells of a grain: all in the range, or only those, or all but those, in a list."""

    grain: Grain
    is_only: bool
    is_but: bool


@dataclass(frozen=True)
class Tiles:
    """The form of the cells between some edges. The names of its places begin with `prefix`.

    `runs` are those of equal periods, 0 if there are too many. `is_one_period`: there are two edges.
    `is_cell_by_cell`: every period is exactly one cell, so that there is nothing to add up.
    """

    prefix: str
    layers: tuple[LayerForm, ...]
    runs: int
    is_one_period: bool
    is_cell_by_cell: bool

    @property
    def begins(self) -> BindParameter[int]:
        """The first edge."""
        return self._number("begins")

    def period_of(self, moment: ColumnElement[int]) -> ColumnElement[int]:
        """The last edge not after a moment, or the moment itself if there are too many runs."""
        among = [(self._number(f"first_{run}"), self._number(f"step_{run}")) for run in range(self.runs)]
        return edge_in(moment, among) if among else moment

    def cells(self, table: Table, layer: int, dialect: str) -> ColumnElement[bool]:
        """The condition on the cells of a layer."""
        form, at = self.layers[layer], table.c.at
        own = table.c.grain == literal(form.grain.value)
        listed = select(numbers_named(dialect, f"{self.prefix}listed_{layer}").c.value)
        if form.is_only:
            return and_(own, at.in_(listed))
        inside = and_(own, at >= self.begins, at < self._number("ends"))
        return and_(inside, at.not_in(listed)) if form.is_but else inside

    def _number(self, name: str) -> BindParameter[int]:
        return bindparam(self.prefix + name, type_=BigInteger())


class Placed(NamedTuple):
    """The form of a range, the values of its places, and how many cells a workspace has in it at most."""

    tiles: Tiles
    values: Mapping[str, Any]
    cells: int


def _size_of_placed(found: Placed, dialect: str, edges: tuple[int, ...], *others: Any) -> int:
    listed = sum(len(value) for value in found.values.values() if isinstance(value, list | str))
    return BYTES_OF_ONE + BYTES_OF_A_MOMENT * (len(edges) + listed)


@cached(REMEMBERED_BYTES, _size_of_placed)
def placed(
    dialect: str,
    edges: tuple[int, ...],
    grains: tuple[Grain, ...],
    prefix: str = "",
    layers: tuple[Layer, ...] | None = None,
) -> Placed:
    """The cells of `grains` between the edges; with `layers`, only these, which are grouped by period."""
    own: Sequence[Layer] = make_cover(edges, grains).layers if layers is None else layers
    among = few_runs(edges)
    tiles = Tiles(
        prefix,
        tuple(LayerForm(layer.grain, layer.only is not None, bool(layer.but)) for layer in own),
        len(among),
        is_one_period=len(edges) == 2,
        is_cell_by_cell=layers is None and _is_cell_by_cell(edges, own),
    )
    values: dict[str, Any] = {f"{prefix}begins": edges[0], f"{prefix}ends": edges[-1]}
    for number, run in enumerate(among):
        values |= {f"{prefix}first_{number}": run.first, f"{prefix}step_{number}": run.step}
    for number, layer in enumerate(own):
        listed = layer.but if layer.only is None else layer.only
        values[f"{prefix}listed_{number}"] = as_numbers(dialect, listed)
    return Placed(tiles, values, sum(_most_cells(layer, edges) for layer in own))


def _is_cell_by_cell(edges: tuple[int, ...], layers: Sequence[Layer]) -> bool:
    if len(layers) != 1 or layers[0].only is not None or layers[0].but:
        return False
    return runs(edges) == [Run(edges[0], layers[0].grain.microseconds)]


def _most_cells(layer: Layer, edges: tuple[int, ...]) -> int:
    if layer.only is not None:
        return len(layer.only)
    return (edges[-1] - edges[0]) // layer.grain.microseconds - len(layer.but)
