"""Expressions that say to which period, or to which cell, a moment belongs."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from sqlalchemy import BigInteger, ColumnElement, case, literal

from storage.metrics.cells.tiling import FIRST_EVER, Grain

MOST_RUNS = 150


def cell_of(moment: ColumnElement[int], grain: Grain) -> ColumnElement[int]:
    """Where the cell begins that a moment lies in, before 1970 too, where databases divide towards zero."""
    first, step = literal(FIRST_EVER, BigInteger), literal(grain.microseconds, BigInteger)
    return (moment - first) // step * step + first


@lru_cache(maxsize=256)
def period_of(moment: ColumnElement[int], edges: tuple[int, ...]) -> ColumnElement[int]:
    """The edge that a moment follows, or the moment itself where the edges have too many runs.

    Days, hours and weeks come in few runs of one length, between which clocks change.
    """
    found = runs(edges)
    if not 0 < len(found) <= MOST_RUNS:
        return moment
    return _among(moment, found)


def _among(moment: ColumnElement[int], found: Sequence[tuple[int, int]]) -> ColumnElement[int]:
    """The edge in one of these runs: halved until one is left, as months come in twenty."""
    if len(found) > 1:
        half = len(found) // 2
        earlier, later = _among(moment, found[:half]), _among(moment, found[half:])
        return case((moment < literal(found[half][0], BigInteger), earlier), else_=later)
    ((first, step),) = found
    place = (moment - literal(first, BigInteger)) // literal(step, BigInteger)
    return place * literal(step, BigInteger) + literal(first, BigInteger)


@lru_cache(maxsize=64)
def runs(edges: tuple[int, ...]) -> list[tuple[int, int]]:
    """Where the distance from edge to edge changes: the first edge and the distance of each run."""
    found: list[tuple[int, int]] = []
    for begins, ends in pairwise(edges):
        if not found or found[-1][1] != ends - begins:
            found.append((begins, ends - begins))
    return found
