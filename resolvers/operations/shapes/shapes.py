"""Shapes: which part of a row becomes which field of a model. Declared once, for both surfaces and for ETags.

A shape gives a statement the cells of each line, and reads a line, a list of JSON values, as a field's value.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel
from sqlalchemy import Column, ColumnElement, FromClause, Select, Table, null, select

from oauth.principals import Principal
from resolvers.operations.shapes.one_workspace import naming_workspace
from storage.dialects.json_rows import JsonArray, lines

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
    defaults. Raises `TypeError` for a field without a source.
    """

    model: type[Item]
    table: Table
    sources: Mapping[str, Source] = field(default_factory=dict)
    omitted: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        missing = [name for name in self._names if name not in self.sources and name not in self.table.c]
        if missing:
            raise TypeError(f"{self.model.__name__} has fields without a source: {', '.join(missing)}.")

    @property
    def _names(self) -> list[str]:
        return [name for name in self.model.model_fields if name not in self.omitted]

    @cached_property
    def fields(self) -> dict[str, Source]:
        """The source of each field, in the order of the answer."""
        return {
            name: self.sources[name] if name in self.sources else self.table.c[name] for name in self._names
        }

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
    def width(self) -> int:
        """The number of cells in a line."""
        return sum(
            len(source.columns) if isinstance(source, Derived) else 1 for source in self.fields.values()
        )

    def place_of(self, column: ColumnElement[Any]) -> int | None:
        """The place of a column's cell in a line; None if no field is that column."""
        names = (name for name, source in self.fields.items() if source is column)
        name = next(names, None)
        return None if name is None else self.places[name]

    def cells(self, row: FromClause, parts: frozenset[str], principal: Principal) -> list[ColumnElement[Any]]:
        """The cells of a line that the principal reads; parts that are not in `parts` are null."""
        cells: list[ColumnElement[Any]] = []
        for name, source in self.fields.items():
            if name in self.parts and name not in parts:
                cells.append(null())
            elif isinstance(source, Part | Counted | Computed):
                cells += [
                    naming_workspace(cell, row, principal) for cell in _cells_of(source, row, principal)
                ]
            else:
                cells += _cells_of(source, row, principal)
        return cells


def _cells_of(source: Source, row: FromClause, principal: Principal) -> list[ColumnElement[Any]]:
    if isinstance(source, Derived):
        return [_of(column, row) for column in source.columns]
    if isinstance(source, Part):
        inner = source.shape
        return [lines(source.rows(row), *inner.cells(inner.table, inner.parts, principal), outside=row)]
    if isinstance(source, Embedded):
        return [JsonArray(*source.shape.cells(source.shape.table, source.shape.parts, principal))]
    if isinstance(source, Counted):
        return [source.count(row)]
    if isinstance(source, Computed):
        return [source.value(row)]
    return [_of(source, row)]


def _of(column: Column[Any], row: FromClause) -> ColumnElement[Any]:
    """The column as the statement reads it: of the page that was selected, or of a joined table itself."""
    return row.c[column.name] if isinstance(column.table, Table) and _is_of(row, column.table) else column


def _is_of(row: FromClause, table: Table) -> bool:
    return row is table or row.is_derived_from(table)
