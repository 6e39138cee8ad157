"""Which cells and which facts make up the time between edges, with as few of them as possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from storage.caches import cached

MICROSECONDS = 1_000_000
# Before 0001-01-01, a whole number of the longest cells before 1970: no fact is earlier.
FIRST_EVER = -719_168 * 86_400 * MICROSECONDS
# In shorter ranges, two more statements take longer than reading a third of the cells saves.
FEWEST_DAYS = 100
# What each function here and its kin remember of ranges: a year by hour has 350 KB of edges.
REMEMBERED_BYTES = 4 * 1024 * 1024


class Grain(IntEnum):
    """The length of a cell in seconds."""

    EIGHT_DAYS = 691_200
    DAY = 86_400
    FOUR_HOURS = 14_400
    HOUR = 3_600
    QUARTER = 900

    @property
    def microseconds(self) -> int:
        # Not `self.value`, which takes as long as ten multiplications: the fold calls this for every fact.
        return self * MICROSECONDS

    def begins(self, moment: int) -> int:
        """The beginning of the cell that contains a moment."""
        return moment - moment % self.microseconds


class CellKey(NamedTuple):
    """A cell of a workspace by its length and its beginning."""

    grain: Grain
    at: int


@dataclass(frozen=True)
class Layer:
    """Cells of one grain: those that begin at `only`, or all in the range but those at `but`."""

    grain: Grain
    only: Sequence[int] | None
    but: Sequence[int] = ()


def size_of_range(_: Any, edges: tuple[int, ...], *others: Any) -> int:
    """About how many bytes the edges take, and what is made of them: as much again."""
    return 1_000 + 80 * len(edges)


@dataclass(frozen=True)
class Cover:
    """Cells that no edge cuts, and the places where facts have to be read instead.

    `layers` is empty if no grain fits; the whole range is then read from facts. `cut` holds the beginnings
    of the cells of `finest` that an edge cuts: facts are read in these cells and nowhere else.
    """

    layers: Sequence[Layer]
    finest: Grain
    cut: tuple[int, ...]


@cached(REMEMBERED_BYTES, size_of_range)
def make_cover(edges: tuple[int, ...], grains: tuple[Grain, ...]) -> Cover:
    """Cover the time from the first to the last edge with cells of `grains`, which go from coarse to fine.

    The base is the coarsest grain with at most half of its cells cut by edges; finer cells replace the
    cut ones.
    """
    begins, ends = edges[0], edges[-1]
    fitting = [grain for grain in grains if len(_cut(edges, grain)) * grain.microseconds * 2 <= ends - begins]
    if not fitting:
        return Cover([], grains[-1], ())
    base, *finer = grains[grains.index(fitting[0]) :]
    cut = _cut(edges, base)
    layers, coarser = [Layer(base, None, cut)], base
    for grain in finer:
        next_cut = _cut(edges, grain)
        excluded = set(next_cut)
        pieces = (
            piece
            for begin in cut
            for piece in range(begin, begin + coarser.microseconds, grain.microseconds)
            if begins <= piece < ends and piece not in excluded
        )
        only = list(pieces)
        if only:
            layers.append(Layer(grain, only))
        cut, coarser = next_cut, grain
    return Cover(layers, coarser, tuple(cut))


@dataclass(frozen=True)
class Days:
    """Periods as whole UTC days, without the early cells of their first day, and with those of the next.

    `edges` bounds the days: each is the midnight before an edge of the periods; then comes the midnight after
    the last of them. `early` holds the cells from these midnights to the edges.
    """

    edges: tuple[int, ...]
    early: tuple[Layer, ...]


@cached(REMEMBERED_BYTES, size_of_range)
def make_days(edges: tuple[int, ...], grains: tuple[Grain, ...]) -> Days | None:
    """None if days do not help: the range is short, no edge is off midnight, or two edges share a day.

    Also None if an edge cuts the finest cells. A year by day in New York has about a third of the cells that
    `make_cover` finds: a day and one or two early cells for each period, instead of six to nine cells.
    """
    day = Grain.DAY.microseconds
    midnights = [Grain.DAY.begins(edge) for edge in edges]
    if edges[-1] - edges[0] < FEWEST_DAYS * day or midnights == list(edges):
        return None
    if len({*midnights}) < len(midnights) or _cut(edges, grains[-1]):
        return None
    begins, layers = midnights, []
    for grain in grains[grains.index(Grain.DAY) + 1 :]:
        ends = [grain.begins(edge) for edge in edges]
        pieces = tuple(
            piece
            for begin, end in zip(begins, ends, strict=True)
            for piece in range(begin, end, grain.microseconds)
        )
        if pieces:
            layers.append(Layer(grain, pieces))
        begins = ends
    return Days((*midnights, midnights[-1] + day), tuple(layers))


def _cut(edges: Sequence[int], grain: Grain) -> list[int]:
    """The beginnings of the cells that contain an edge, ascending."""
    length = grain.microseconds
    return sorted({edge - edge % length for edge in edges if edge % length})
