"""Several questions about the cells of one workspace, or of its shares, read by one statement.

One statement sees one state without a transaction. Nearly all questions can be read so; what cells do not
hold, because an edge cuts the shortest ones or something waits for the fold, is read in a snapshot instead.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    LargeBinary,
    Select,
    String,
    bindparam,
    case,
    cast,
    literal_column,
    null,
    select,
)
from sqlalchemy.engine import Dialect

from storage.caches import hashed_once
from storage.engine.plans import plan_for
from storage.engine.statements.kept import Kept, KeptText
from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.cells.cells import MONEY, PERSON_GRAINS
from storage.metrics.cells.tiling import Cover, make_cover
from storage.metrics.reading.cell_query import CellQuery, PlacedCells, grains_of, placed_cells
from storage.metrics.reading.cell_source import KEYS
from storage.metrics.reading.cell_statements import Rows, has_deltas, rows_of_cells
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
# How many sums a row has; few numbers, so that statements share the texts of their parts.
_WIDTHS = (4, 8, 16, 32)
_KEY, _NUMBER, _BITMAP = cast(null(), String), cast(null(), BigInteger), cast(null(), LargeBinary)


class Home(NamedTuple):
    """The workspace: what the condition on its row depends on, and what makes it."""

    form: Hashable
    condition: Callable[[], ColumnElement[bool]]


@hashed_once
@dataclass(frozen=True)
class AtOnceForm:
    """What the statement depends on. Without `has_currency`, money is in the workspace's default currency."""

    queries: tuple[tuple[int, CellQuery | PersonQuery], ...]
    has_currency: bool

    def kept(self, dialect: Dialect, home: Home) -> Kept:
        """Reads the number of a query, a key, a moment, sums and a bitmap, with nulls in place of others.

        The first row, number 0, is about the workspace: its key is the default currency, its sums are 1 if
        deltas wait, and if merges do; then nothing else is read. Each part is compiled by itself: most
        are the same for other metrics.
        """

        def make() -> Kept:
            width = next(
                each for each in _WIDTHS if each >= max([0, *(_width(query) for _, query in self.queries)])
            )
            parts = [plan_for(dialect, ("home", home.form, width), lambda: _rows_of_home(home, width))]
            for number, query in self.queries:
                parts.append(self._part(dialect, home, number, query, width))
            return Kept.of_text(KeptText.united([part.on(dialect) for part in parts], dialect), dialect)

        return plan_for(dialect, ("at once", home.form, self), make)

    def _part(
        self, dialect: Dialect, home: Home, number: int, query: CellQuery | PersonQuery, width: int
    ) -> Kept:
        if isinstance(query, PersonQuery):
            return plan_for(dialect, (number, query, width), lambda: _persons(number, query, width))
        currency = None if self.has_currency else home
        form = (number, query, width, currency and home.form)
        return plan_for(dialect, form, lambda: _cells(number, query, width, currency))


class AtOnce(NamedTuple):
    """What one statement reads: its form, the values of its places, and how many cells it reads at most.

    `numbers` has those of the queries by question, and by the edges between which persons are counted.
    """

    form: AtOnceForm
    values: Mapping[str, Any]
    cells: int
    numbers: Mapping[Hashable, Sequence[int]]

    def of_workspace(self, workspace_id: UUID) -> "AtOnce":
        """The same about another workspace."""
        return self._replace(values={**self.values, "workspace_id": workspace_id})

    def found(self, rows: Sequence[Sequence[Any]]) -> "FoundAtOnce | None":
        """What the statement has read; None if nothing was, because something waits for the fold."""
        by_query = _columns_by_query(rows)
        if 0 not in by_query or any(waiting for waiting, *_ in by_query[0][_LEADING : _LEADING + 2]):
            return None
        return FoundAtOnce(self, by_query)


@lru_cache(maxsize=1_000)
def _shared(form: AtOnceForm) -> AtOnceForm:
    """One object for equal forms: looking its statement up then compares none of its queries."""
    return form


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
    parts: dict[int, PlacedCells | PlacedPersons] = {}
    numbers: dict[Hashable, Sequence[int]] = {}
    for place, question in enumerate(questions):
        own = placed_cells(dialect, selection, question, f"cells_{place}_", unless_deltas=True)
        # Numbers do not depend on how many tables the questions before are about.
        placed = {2 * place + 1 + (each.query.table is MONEY): each for each in own}
        parts |= placed
        numbers[_name(question)] = list(placed)
    for place, edges in enumerate(persons, 1):
        parts[-place] = placed_persons(dialect, tuple(edges), f"range_{place}_", unless_waiting=True)
        numbers[tuple(edges)] = [-place]
    values: dict[str, Any] = {"workspace_id": selection.workspace_ids[0]}
    for part in parts.values():
        values |= part.values
    form = AtOnceForm(tuple((number, part.query) for number, part in parts.items()), has_currency)
    return AtOnce(_shared(form), values, sum(part.cells for part in parts.values()), numbers)


class FoundAtOnce:
    """A source of what was read at once, for the same questions. `currency` is the workspace's default."""

    def __init__(self, asked: AtOnce, by_query: Mapping[int, Sequence[Sequence[Any]]]) -> None:
        self.currency: str = by_query[0][1][0]
        self._asked = asked
        self._queries = dict(asked.form.queries)
        self._by_query = by_query

    async def sums(self, question: Question) -> SumsByKey:
        sums, read_key = PeriodSums(question), KEYS[question.grouped_by]
        for number in self._asked.numbers[_name(question)]:
            query = self._queries[number]
            if not isinstance(query, CellQuery) or number not in self._by_query:
                continue
            _, keys, moments, *columns = self._by_query[number]
            if read_key is None:
                sums.add_columns(query.fact_sums, moments, columns)
            else:
                rows = zip(keys, moments, *columns, strict=True)
                sums.add_cells(query.fact_sums, list(rows), read_key)
        return sums.by_key

    async def persons(self, edges: Sequence[int]) -> PersonCounts:
        (number,) = self._asked.numbers[tuple(edges)]
        query = self._queries[number]
        cells = PersonsOfCells(tuple(edges), are_counted=isinstance(query, PersonQuery) and query.is_counted)
        rows: list[Any] = []
        if number in self._by_query:
            _, _, moments, counts, *_, persons = self._by_query[number]
            rows = list(zip(moments, persons, counts, strict=True))
        cells.add(self._asked.values["workspace_id"], rows)
        return cells.result()


def _columns_by_query(rows: Sequence[Sequence[Any]]) -> dict[int, Sequence[Sequence[Any]]]:
    """The columns of the rows of each query that has any. Databases mostly give these one after the other."""
    by_query: dict[int, list[Sequence[Any]]] = defaultdict(list)
    for number, own in groupby(rows, itemgetter(0)):
        by_query[number] += own
    return {number: list(zip(*own, strict=True)) for number, own in by_query.items()}


def _name(question: Question) -> Hashable:
    """What tells a question from others; the currency is not known before the statement has run."""
    return tuple(question.fact_sums), tuple(question.states), tuple(question.edges), question.grouped_by


def _is_enough(cover: Cover) -> bool:
    """Whether its cells are the whole range."""
    return bool(cover.layers) and not cover.cut


def _width(query: CellQuery | PersonQuery) -> int:
    """How many sums its rows have."""
    return 1 if isinstance(query, PersonQuery) else len(cell_columns_of(query.fact_sums))


def _rows_of_home(home: Home, width: int) -> Select[Any]:
    flags: list[ColumnElement[Any]] = [_as_number(has_deltas(in_one=True)), _as_number(HAS_MERGES)]
    key, nulls = _workspaces.c.default_presentment_currency, [_NUMBER] * (width - len(flags))
    return select(literal_column("0"), key, _NUMBER, *flags, *nulls, _BITMAP).where(home.condition())


def _cells(number: int, query: CellQuery, width: int, home: Home | None) -> Rows:
    """The rows of cells; with a home, of money in its default currency."""
    currency: Any = bindparam("currency", type_=String())
    if home is not None:
        default = select(_workspaces.c.default_presentment_currency).where(home.condition())
        currency = default.scalar_subquery()
    leading: list[ColumnElement[Any]] = [literal_column(str(number)), *([] if query.keys else [_KEY])]
    further: list[ColumnElement[Any]] = [*[_NUMBER] * (width - _width(query)), _BITMAP]
    return rows_of_cells(query, further, leading, currency)


def _persons(number: int, query: PersonQuery, width: int) -> Rows:
    leading, nulls = [literal_column(str(number)), _KEY], [_NUMBER] * (width - _width(query))
    return rows_of_persons(query, lambda at, persons, many: [*leading, at, many, *nulls, persons])


def _as_number(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, literal_column("1")), else_=literal_column("0"))
