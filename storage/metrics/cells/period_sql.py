"""SQL expressions for the period, or the cell, that contains a moment."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from sqlalchemy import BigInteger, ColumnElement, case, literal

from storage.caches import cached
from storage.metrics.cells.tiling import FIRST_EVER, REMEMBERED_BYTES, Grain, size_of_range

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


@cached(REMEMBERED_BYTES, lambda _, moment, edges: size_of_range(None, edges))
def period_of(moment: ColumnElement[int], edges: tuple[int, ...]) -> ColumnElement[int]:
    """The last edge not after a moment, or the moment itself if the edges have too many runs.

    Days, hours and weeks make few runs of equal length, with a change of the clocks between them.
    """
    values = [(literal(run.first, BigInteger), literal(run.step, BigInteger)) for run in few_runs(edges)]
    return edge_in(moment, values) if values else moment


def edge_in(
    moment: ColumnElement[int], among: Sequence[tuple[ColumnElement[int], ColumnElement[int]]]
) -> ColumnElement[int]:
    """The edge in one of these runs, each with its first edge and its step, by halving them: months make
    twenty.
    """
    if len(among) > 1:
        half = len(among) // 2
        earlier, later = edge_in(moment, among[:half]), edge_in(moment, among[half:])
        return case((moment < among[half][0], earlier), else_=later)
    ((first, step),) = among
    return (moment - first) // step * step + first


def few_runs(edges: tuple[int, ...]) -> list[Run]:
    """The edges as runs; none if these are too many for SQL."""
    all_runs = runs(edges)
    return all_runs if len(all_runs) <= MOST_RUNS else []


@cached(REMEMBERED_BYTES, size_of_range)
def runs(edges: tuple[int, ...]) -> list[Run]:
    """The edges as runs: a new one begins where the distance from edge to edge changes."""
    all_runs: list[Run] = []
    for begins, ends in pairwise(edges):
        if not all_runs or all_runs[-1].step != ends - begins:
            all_runs.append(Run(begins, ends - begins))
    return all_runs
