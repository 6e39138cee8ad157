"""Shapes: which part of a row becomes which field of a model. Declared once, for both surfaces and for ETags.

A shape gives a statement the cells of each line, and reads a line, a list of JSON values, as a field's value.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel
from sqlalchemy import Column, ColumnClause, ColumnElement, FromClause, Select, Table, null, select
from sqlalchemy.sql.visitors import iterate

from oauth.principals import Principal
from resolvers.operations.shapes.chosen import Chosen
from resolvers.operations.shapes.one_workspace import naming_workspace
from storage.dialects.json_rows import JsonArray, lines

# Each takes some KB.
MOST_NARROWED = 500

Item = TypeVar("Item", bound=BaseModel)


@dataclass(frozen=True)
class Derived:
    """A field that `make` computes from columns, then from the values of the fields named in `computed`.

    With `uses_services`, `make` takes the services first.
    """

    make: Callable[..., Any]
    columns: tuple[Column[Any], ...]
    computed: tuple[str, ...] = field(default=(), kw_only=True)
    uses_services: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, eq=False)
class Part:
    """A field with the lines of other rows: `rows` selects them, in order, for a row of the shape's table.

    Without `many`, the field is the first line, or null.
    """

    shape: "Shape[Any]"
    rows: Callable[[FromClause], Select[Any]]
    many: bool = True


@dataclass(frozen=True, eq=False)
class Embedded:
    """A field with an object made of columns of the same row."""

    shape: "Shape[Any]"


@dataclass(frozen=True)
class Counted:
    """A field with a number that a subquery computes for a row of the shape's table."""

    count: Callable[[FromClause], ColumnElement[Any]]


@dataclass(frozen=True)
class Computed:
    """A field with the value of an expression for a row of the shape's table; it is read always."""

    value: Callable[[FromClause], ColumnElement[Any]]


Source: TypeAlias = Column[Any] | Derived | Part | Embedded | Counted | Computed


def of_referenced(column: Column[Any], by: str) -> Computed:
    """This column of the row that the column `by` refers to; null if `by` is."""

    def value(row: FromClause) -> ColumnElement[Any]:
        same = column.table.c.id == row.c[by]
        return select(column).where(same).correlate(row).scalar_subquery()

    return Computed(value)


@dataclass(frozen=True, eq=False)
class Shape(Generic[Item]):
    """The fields of `model` made from rows of `table`.

    A field is the column of its name unless `sources` says otherwise; the fields in `omitted` have their
    defaults, and `whole` is the shape with them. `narrowed` makes a shape of what is `chosen` from `base`.
    Raises `TypeError` for a field without a source.
    """

    model: type[Item]
    table: Table
    sources: Mapping[str, Source] = field(default_factory=dict)
    omitted: frozenset[str] = frozenset()
    whole: "Shape[Item] | None" = None
    base: "Shape[Item] | None" = None
    chosen: Chosen | None = None

    def __post_init__(self) -> None:
        missing = [name for name in self._names if name not in self.sources and name not in self.table.c]
        if missing:
            raise TypeError(f"{self.model.__name__} has fields without a source: {', '.join(missing)}.")

    @property
    def _names(self) -> list[str]:
        names = [name for name in self.model.model_fields if name not in self.omitted]
        chosen = None if self.chosen is None else self.chosen.fields
        if chosen is None:
            return names
        derived = [source for name in chosen if isinstance(source := self.sources.get(name), Derived)]
        needed = chosen.union(*(source.computed for source in derived))
        return [name for name in names if name in needed]

    @cached_property
    def fields(self) -> dict[str, Source]:
        """The source of each field, in the order of the answer."""
        return {
            name: self.sources[name] if name in self.sources else self.table.c[name] for name in self._names
        }

    def narrowed(self, chosen: Chosen) -> "Shape[Item]":
        """The shape of what is chosen: its lines have no other cells. The same object for equal choices."""
        return _narrowed(self, chosen)

    @cached_property
    def tagged(self) -> "Shape[Item]":
        """The shape of what an entity tag is made of."""
        base = self if self.base is None else self.base
        return base if base.whole is None else base.whole

    @cached_property
    def parts(self) -> frozenset[str]:
        """The fields that take a subquery, and are read only if they are selected."""
        return frozenset(name for name, source in self.fields.items() if isinstance(source, Part | Counted))

    @cached_property
    def is_hashed_whole(self) -> bool:
        """Whether the entity tag is made of the whole answer."""
        unhashed: frozenset[str] = getattr(self.model, "unhashed", frozenset())
        return self.fields.keys().isdisjoint(unhashed)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each field's first cell in a line."""
        places, place = {}, 0
        for name, source in self.fields.items():
            places[name] = place
            place += len(source.columns) if isinstance(source, Derived) else 1
        return places

    @cached_property
    def _end(self) -> int:
        """The place after the cells of the fields."""
        return sum(
            len(source.columns) if isinstance(source, Derived) else 1 for source in self.fields.values()
        )

    @cached_property
    def width(self) -> int:
        """The number of cells in a line."""
        return self._end if self.chosen is None else self._end + self.chosen.tag + len(self.chosen.links)

    @property
    def place_of_tag(self) -> int:
        """The place of the cell with the line that the entity tag is made of."""
        return self._end

    def place_of_link(self, number: int) -> int:
        """The place of the cell of the chosen link with this number."""
        if self.chosen is None:
            raise LookupError("A shape that is not narrowed has no links.")
        return self._end + self.chosen.tag + number

    def place_of(self, column: ColumnElement[Any]) -> int | None:
        """The place of a column's cell in a line; None if no field is that column."""
        names = (name for name, source in self.fields.items() if source is column)
        name = next(names, None)
        return None if name is None else self.places[name]

    @cached_property
    def _needed(self) -> frozenset[str]:
        """The names of the columns of a row to which its cells refer."""
        row = self.table.alias()
        cells = [cell for source in self.fields.values() for cell in _cells_of(source, row, None)]
        parts = (part for cell in cells for part in iterate(cell) if isinstance(part, ColumnClause))
        needed = {part.name for part in parts if part.table is row}
        if self.chosen is not None:
            needed.update(*(link.keys for link in self.chosen.links))
            needed |= self.tagged._needed if self.chosen.tag else set()
        return frozenset(needed)

    def columns(self, keys: Iterable[str]) -> list[Column[Any]]:
        """The columns that a subquery of rows needs: those of the cells, and these keys."""
        names = self._needed.union(keys)
        return [column for column in self.table.c if column.name in names]

    def reads_others(self, parts: frozenset[str]) -> bool:
        """Whether the cells, with these parts, are of other rows too."""
        chosen = self.chosen
        if chosen is not None and (chosen.links or (chosen.tag and self.tagged.parts)):
            return True
        return bool(parts)

    def cells(
        self, row: FromClause, parts: frozenset[str], principal: Principal | None = None
    ) -> list[ColumnElement[Any]]:
        """The cells of a line; parts that are not in `parts` are null. Chosen links need a principal."""
        cells: list[ColumnElement[Any]] = []
        for name, source in self.fields.items():
            if name in self.parts and name not in parts:
                cells.append(null())
            else:
                cells += _cells_of(source, row, principal)
        if self.chosen is None:
            return cells
        if self.chosen.tag:
            cells.append(JsonArray(*self.tagged.cells(row, self.tagged.parts, principal)))
        if principal is not None:
            named = naming_workspace(row, principal)
            cells += [link.cell(named, principal) for link in self.chosen.links]
        return cells


@lru_cache(maxsize=MOST_NARROWED)
def _narrowed(shape: Shape[Any], chosen: Chosen) -> Shape[Any]:
    if shape.whole is not None and not shape.omitted.isdisjoint(chosen.fields or ()):
        return _narrowed(shape.whole, chosen)
    inner = {
        name: below for name, below in chosen.inner if isinstance(shape.fields.get(name), Part | Embedded)
    }
    if len(inner) < len(chosen.inner):
        # What is selected of an object in a column changes nothing in the statement.
        return _narrowed(shape, replace(chosen, inner=tuple(inner.items())))
    sources = {
        name: replace(source, shape=source.shape.narrowed(inner[name]))
        if isinstance(source, Part | Embedded) and name in inner
        else source
        for name, source in shape.sources.items()
    }
    return replace(shape, sources=sources, whole=None, base=shape, chosen=chosen)


def _cells_of(source: Source, row: FromClause, principal: Principal | None) -> list[ColumnElement[Any]]:
    if isinstance(source, Derived):
        return [_of(column, row) for column in source.columns]
    named = naming_workspace(row, principal)
    if isinstance(source, Part):
        inner = source.shape
        return [lines(source.rows(named), *inner.cells(inner.table, inner.parts, principal), outside=row)]
    if isinstance(source, Embedded):
        return [JsonArray(*source.shape.cells(source.shape.table, source.shape.parts, principal))]
    if isinstance(source, Counted):
        return [source.count(named)]
    if isinstance(source, Computed):
        return [source.value(named)]
    return [_of(source, row)]


def _of(column: Column[Any], row: FromClause) -> ColumnElement[Any]:
    """The column as the statement reads it: of the page that was selected, or of a joined table itself."""
    return row.c[column.name] if isinstance(column.table, Table) and _is_of(row, column.table) else column


def _is_of(row: FromClause, table: Table) -> bool:
    return row is table or row.is_derived_from(table)
