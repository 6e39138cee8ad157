"""Several questions about the cells of one workspace, or of its shares, read by one statement.

One statement sees one state without a transaction. Nearly all questions can be read so; what cells do not
hold, because an edge cuts the shortest ones or something waits for the fold, is read in a snapshot instead.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    LargeBinary,
    String,
    bindparam,
    case,
    cast,
    literal_column,
    null,
    select,
    union_all,
)

from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.cells.cells import PERSON_GRAINS
from storage.metrics.cells.tiling import Cover, make_cover
from storage.metrics.reading.cell_query import CellQuery, PlacedCells, grains_of, placed_cells
from storage.metrics.reading.cell_source import KEYS
from storage.metrics.reading.cell_statements import has_deltas, rows_of_cells
from storage.metrics.reading.period_sums import PeriodSums
from storage.metrics.reading.person_source import PersonsOfCells
from storage.metrics.reading.person_statements import (
    HAS_MERGES,
    PersonQuery,
    PlacedPersons,
    placed_persons,
    rows_of_persons,
)
from storage.metrics.reading.reader import Question, Selection, SumsByKey
from storage.metrics.sums import cell_columns_of
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceRow

_workspaces = table_of(WorkspaceRow)
# The columns before the sums: which query a row is of, its key and its moment.
_LEADING = 3


@dataclass(frozen=True)
class AtOnceForm:
    """What the statement depends on. Without `has_currency`, money is in the workspace's default currency."""

    queries: tuple[CellQuery | PersonQuery, ...]
    has_currency: bool

    def statement(self, home: ColumnElement[bool]) -> CompoundSelect[Any]:
        """Rows of the number of a query, a key, a moment, sums and a bitmap, with nulls in place of others.

        The first query, number 0, is about the workspace that meets the condition `home`: its key is the
        default currency, its sums are 1 if deltas wait, and if merges do; then nothing else is read.
        """
        default = select(_workspaces.c.default_presentment_currency).where(home)
        currency: Any = default.scalar_subquery()
        if self.has_currency:
            currency = bindparam("currency", type_=String())
        width = max([2, *map(_width, self.queries)])
        flags: list[ColumnElement[Any]] = [_as_number(has_deltas(in_one=True)), _as_number(HAS_MERGES)]
        key = _workspaces.c.default_presentment_currency
        parts = [select(*_row(0, key, None, flags, width=width)).where(home)]
        for number, query in enumerate(self.queries, 1):
            if isinstance(query, PersonQuery):
                rows = rows_of_persons(query).subquery()
                parts.append(
                    select(*_row(number, None, rows.c.at, [rows.c.many], width=width, bitmap=rows.c.persons))
                )
            else:
                found = list(rows_of_cells(query, currency=currency).subquery().c)
                own_key = found.pop(0) if query.keys else None
                parts.append(select(*_row(number, own_key, found[0], found[1:], width=width)))
        return union_all(*parts)


class AtOnce(NamedTuple):
    """What one statement reads: its form, the values of its places, and how many cells it reads at most.

    `numbers` has those of the queries by question, and by the edges between which persons are counted.
    """

    form: AtOnceForm
    values: Mapping[str, Any]
    cells: int
    numbers: Mapping[Hashable, Sequence[int]]

    def found(self, rows: Sequence[Sequence[Any]]) -> "FoundAtOnce | None":
        """What the statement has read; None if nothing was, because something waits for the fold."""
        by_query: list[list[Sequence[Any]]] = [[] for _ in range(len(self.form.queries) + 1)]
        for row in rows:
            by_query[row[0]].append(row)
        if not by_query[0] or any(by_query[0][0][_LEADING : _LEADING + 2]):
            return None
        return FoundAtOnce(self, by_query)


def at_once(
    dialect: str,
    selection: Selection,
    questions: Sequence[Question],
    persons: Sequence[Sequence[int]],
    *,
    has_currency: bool,
) -> AtOnce | None:
    """The statement for questions about one workspace, and for the persons between some edges.

    None if cells alone do not answer them.
    """
    covers = [make_cover(tuple(each.edges), grains_of(selection)) for each in questions]
    covers += [make_cover(tuple(edges), PERSON_GRAINS) for edges in persons]
    if not all(map(_is_enough, covers)) or (persons and selection.share_ids is not None):
        return None
    parts: list[PlacedCells | PlacedPersons] = []
    numbers: dict[Hashable, Sequence[int]] = {}
    for question in questions:
        own = placed_cells(dialect, selection, question, f"cells_{len(parts)}_", unless_deltas=True)
        numbers[_name(question)] = range(len(parts) + 1, len(parts) + len(own) + 1)
        parts += own
    for edges in persons:
        parts.append(placed_persons(dialect, tuple(edges), f"part_{len(parts)}_", unless_waiting=True))
        numbers[tuple(edges)] = [len(parts)]
    values: dict[str, Any] = {"workspace_id": selection.workspace_ids[0]}
    for part in parts:
        values |= part.values
    form = AtOnceForm(tuple(part.query for part in parts), has_currency)
    return AtOnce(form, values, sum(part.cells for part in parts), numbers)


class FoundAtOnce:
    """A source of what was read at once, for the same questions. `currency` is the workspace's default."""

    def __init__(self, asked: AtOnce, by_query: Sequence[Sequence[Sequence[Any]]]) -> None:
        self.currency: str = by_query[0][0][1]
        self._asked = asked
        self._by_query = by_query

    async def sums(self, question: Question) -> SumsByKey:
        sums, read_key = PeriodSums(question), KEYS[question.grouped_by]
        begins = _LEADING - (1 if read_key is None else 2)
        for number in self._asked.numbers[_name(question)]:
            query = self._asked.form.queries[number - 1]
            if isinstance(query, CellQuery):
                own = slice(begins, _LEADING + _width(query))
                sums.add_cells(query.fact_sums, [row[own] for row in self._by_query[number]], read_key)
        return sums.by_key

    async def persons(self, edges: Sequence[int]) -> PersonCounts:
        (number,) = self._asked.numbers[tuple(edges)]
        query = self._asked.form.queries[number - 1]
        cells = PersonsOfCells(tuple(edges), are_counted=isinstance(query, PersonQuery) and query.is_counted)
        rows = [(row[_LEADING - 1], row[-1], row[_LEADING]) for row in self._by_query[number]]
        cells.add(self._asked.values["workspace_id"], rows)
        return cells.result()


def _name(question: Question) -> Hashable:
    """What tells a question from others; the currency is not known before the statement has run."""
    return tuple(question.fact_sums), tuple(question.states), tuple(question.edges), question.grouped_by


def _is_enough(cover: Cover) -> bool:
    """Whether its cells are the whole range."""
    return bool(cover.layers) and not cover.cut


def _width(query: CellQuery | PersonQuery) -> int:
    """How many sums its rows have."""
    return 1 if isinstance(query, PersonQuery) else len(cell_columns_of(query.fact_sums))


def _row(
    number: int,
    key: ColumnElement[Any] | None,
    moment: ColumnElement[Any] | None,
    sums: Sequence[ColumnElement[Any]],
    *,
    width: int,
    bitmap: ColumnElement[Any] | None = None,
) -> list[ColumnElement[Any]]:
    return [
        literal_column(str(number)),
        cast(null(), String) if key is None else key,
        cast(null(), BigInteger) if moment is None else moment,
        *sums,
        *[cast(null(), BigInteger)] * (width - len(sums)),
        cast(null(), LargeBinary) if bitmap is None else bitmap,
    ]


def _as_number(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, literal_column("1")), else_=literal_column("0"))
