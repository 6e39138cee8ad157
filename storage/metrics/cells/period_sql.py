"""SQL expressions for the period, or the cell, that contains a moment."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from sqlalchemy import BigInteger, ColumnElement, case, literal

from storage.metrics.cells.tiling import FIRST_EVER, Grain

MOST_RUNS = 150


class Run(NamedTuple):
    """Edges at equal distances: the first of them, and the distance."""

    first: int
    step: int


def cell_of(moment: ColumnElement[int], grain: Grain) -> ColumnElement[int]:
    """The beginning of the cell that contains a moment.

    Counted from `FIRST_EVER`, because databases divide negative numbers towards zero.
    """
    first, step = literal(FIRST_EVER, BigInteger), literal(grain.microseconds, BigInteger)
    return (moment - first) // step * step + first


@lru_cache(maxsize=256)
def period_of(moment: ColumnElement[int], edges: tuple[int, ...]) -> ColumnElement[int]:
    """The last edge not after a moment, or the moment itself if the edges have too many runs.

    Days, hours and weeks make few runs of equal length, with a change of the clocks between them.
    """
    all_runs = runs(edges)
    if not 0 < len(all_runs) <= MOST_RUNS:
        return moment
    return _edge_in(moment, all_runs)


def _edge_in(moment: ColumnElement[int], among: Sequence[Run]) -> ColumnElement[int]:
    """The edge in one of these runs, by halving them: months make twenty."""
    if len(among) > 1:
        half = len(among) // 2
        earlier, later = _edge_in(moment, among[:half]), _edge_in(moment, among[half:])
        return case((moment < literal(among[half].first, BigInteger), earlier), else_=later)
    ((first, step),) = among
    place = (moment - literal(first, BigInteger)) // literal(step, BigInteger)
    return place * literal(step, BigInteger) + literal(first, BigInteger)


@lru_cache(maxsize=64)
def runs(edges: tuple[int, ...]) -> list[Run]:
    """The edges as runs: a new one begins where the distance from edge to edge changes."""
    all_runs: list[Run] = []
    for begins, ends in pairwise(edges):
        if not all_runs or all_runs[-1].step != ends - begins:
            all_runs.append(Run(begins, ends - begins))
    return all_runs
