"""Which cells and which facts make up the time between edges, with as few of them as possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

MICROSECONDS = 1_000_000
# Before 0001-01-01, a whole number of the longest cells before 1970: nothing is measured earlier.
FIRST_EVER = -719_168 * 86_400 * MICROSECONDS


class Grain(IntEnum):
    """The length of a cell in seconds."""

    EIGHT_DAYS = 691_200
    DAY = 86_400
    FOUR_HOURS = 14_400
    HOUR = 3_600
    QUARTER = 900

    @property
    def microseconds(self) -> int:
        # Not `self.value`, which takes as long as ten multiplications: the fold asks for every fact.
        return self * MICROSECONDS

    def begins(self, moment: int) -> int:
        """Where the cell begins that a moment lies in."""
        return moment - moment % self.microseconds


@dataclass(frozen=True)
class Layer:
    """Cells of one grain: those that begin at `only`, or all of the range but those that begin at `but`."""

    grain: Grain
    only: Sequence[int] | None
    but: Sequence[int] = ()


@dataclass(frozen=True)
class Cover:
    """Cells that no edge cuts, and where the facts have to be read themselves.

    `layers` are without any where the facts of the whole range are. `cut` are the beginnings of the cells
    of `finest` that an edge cuts: there facts count, and only there.
    """

    layers: Sequence[Layer]
    finest: Grain
    cut: tuple[int, ...]


@lru_cache(maxsize=64)
def make_cover(edges: tuple[int, ...], grains: tuple[Grain, ...]) -> Cover:
    """Cover the time from the first edge until the last with cells of `grains`, which go from coarse to fine.

    The coarsest grain is taken of which the edges cut less than half, and the cells they do cut are
    replaced by finer ones.
    """
    begins, ends = edges[0], edges[-1]
    whole = [grain for grain in grains if len(_cut(edges, grain)) * grain.microseconds * 2 <= ends - begins]
    if not whole:
        return Cover([], grains[-1], ())
    base, *finer = grains[grains.index(whole[0]) :]
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


def _cut(edges: Sequence[int], grain: Grain) -> list[int]:
    """The beginnings of the cells that have an edge inside, ascending."""
    length = grain.microseconds
    return sorted({edge - edge % length for edge in edges if edge % length})
