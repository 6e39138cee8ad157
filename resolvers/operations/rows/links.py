"""Links: which rows a row leads to. Declared once, and read as a part of the statement that reads the row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Integer,
    bindparam,
    func,
    literal_column,
    select,
)
from sqlmodel import SQLModel

from oauth.principals import Principal
from resolvers.operations.context import Context
from resolvers.operations.rows.access import visible
from resolvers.operations.rows.lists import (
    Cursors,
    Keys,
    Listing,
    continues,
    key_places,
    keys_at,
    page_of,
    unverified_place,
)
from resolvers.operations.shapes.chosen import Chosen
from resolvers.operations.shapes.shaped import ShapedRows
from resolvers.operations.shapes.shapes import Shape
from schema.errors import Invalid, problem
from schema.kit.pages import OTHER_LIST, ListQuery, Page, Paging
from schema.kit.problems import named
from storage.dialects.json_rows import JsonArray, lines
from storage.dialects.selected_order import AsSelected
from storage.rows.ordering import after
from storage.rows.rows import table_of


@dataclass(frozen=True, eq=False)
class ToOne:
    """The row of `model` whose id is in the column `by` of a row of the same workspace, or in that of itself.

    With `replica` it may be read from a replica.
    """

    model: type[SQLModel]
    shape: Shape[Any]
    by: str
    replica: bool = False


@dataclass(frozen=True, eq=False)
class ToMany:
    """The rows of a listing, in its default order, whose `column` has the id of a row of their workspace.

    `query` makes the listing's query for this id, a limit and a page; a page's cursor continues that list.
    """

    listing: Listing[Any]
    shape: Shape[Any]
    column: str
    query: Callable[[UUID | str, int, int], ListQuery]

    @property
    def replica(self) -> bool:
        return self.listing.replica

    def paging_of(self, paging: Paging) -> Paging:
        """The same page with the place in its cursor. Raises `Invalid` for what cannot be a cursor.

        Whether the cursor is of this list shows once the row is read that the list is of: `check_cursor`.
        """
        if paging.after is None:
            return paging
        try:
            return replace(paging, place=unverified_place(self.listing, paging.after))
        except ValueError:
            raise self._refused(paging.after) from None

    def check_cursor(self, ctx: Context, id: UUID | str, cursor: str) -> None:
        """Raises `Invalid` if the cursor is not of the list of the row with this id."""
        if not continues(ctx, self.listing, self.query(id, 1, 1), cursor):
            raise self._refused(cursor)

    def _refused(self, cursor: str) -> Invalid:
        return Invalid([named(problem(("after",), OTHER_LIST, "cursor", input=cursor), "after")])


Link = ToOne | ToMany


@dataclass(frozen=True)
class LinkedRow:
    """The row behind a link: its line, or null."""

    link: ToOne
    chosen: Chosen

    @cached_property
    def shape(self) -> Shape[Any]:
        return self.link.shape.narrowed(self.chosen)

    @property
    def keys(self) -> tuple[str, ...]:
        return "workspace_id", self.link.by

    def cell(self, row: FromClause, principal: Principal) -> ColumnElement[Any]:
        table = table_of(self.link.model)
        same = [table.c.id == row.c[self.link.by]]
        if "workspace_id" in table.c:
            same.append(table.c.workspace_id == row.c.workspace_id)
        seen = visible(self.link.model, principal)
        columns = self.shape.columns(["id"])
        linked = select(*columns).where(seen, *same).correlate(row).subquery()
        cells = self.shape.cells(linked, self.shape.parts, principal)
        return select(JsonArray(*cells)).select_from(linked).scalar_subquery()


def names_of_place(beginning: str, keys: int) -> list[str]:
    """The names of the parameters for so many sort keys before a page."""
    return [f"{beginning}_{number}" for number in range(keys)]


@dataclass(frozen=True)
class LinkedPage:
    """A page of the rows behind a link: its lines, or the lines and the total if it `is_counted`.

    If it `is_continued`, there is one line too many if a page follows, and the sort keys are in each line.
    `skipped` is the name of the parameter for the number of rows before the page, `after` how the names of
    those for the sort keys before it begin.
    """

    link: ToMany
    chosen: Chosen
    limit: int
    is_counted: bool
    is_continued: bool
    skipped: str | None = None
    after: str | None = None

    @cached_property
    def shape(self) -> Shape[Any]:
        return self.link.shape.narrowed(self.chosen)

    @property
    def keys(self) -> tuple[str, ...]:
        return "workspace_id", "id"

    @cached_property
    def key_places(self) -> list[int]:
        """The place of each sort key in a line."""
        return key_places(self.shape, self.link.listing.order(()))

    @cached_property
    def keys_of(self) -> Keys:
        """Takes the sort keys out of a line."""
        return keys_at(self.key_places)

    def cell(self, row: FromClause, principal: Principal) -> ColumnElement[Any]:
        listing = self.link.listing
        table, order = listing.table, listing.order(())
        conditions = [
            visible(listing.model, principal),
            *listing.always,
            table.c.workspace_id == row.c.workspace_id,
            table.c[self.link.column] == row.c.id,
        ]
        if self.after is not None:
            names = names_of_place(self.after, len(order))
            places = [bindparam(name, type_=key.column.type) for name, key in zip(names, order, strict=True)]
            conditions.append(after(order, places))
        limit = literal_column(str(self.limit + self.is_continued), Integer)
        columns = self.shape.columns(key.column.name for key in order)
        rows = select(*columns).where(*conditions).order_by(*(key.order for key in order)).limit(limit)
        if self.skipped is not None:
            rows = rows.offset(bindparam(self.skipped, type_=BigInteger()))
        page = rows.correlate(row).subquery()
        keys = [replace(key, column=page.c[key.column.name]) for key in order]
        cells = self.shape.cells(page, self.shape.parts, principal)
        if self.is_continued:
            ends = zip(keys, self.key_places, strict=True)
            cells += [key.column for key, place in ends if place >= self.shape.width]
        rows = select(page).order_by(*(AsSelected(key.order) for key in keys)).limit(limit)
        listed = lines(rows, *cells, are_limited=True)
        if not self.is_counted:
            return listed
        counted = select(func.count()).select_from(table).where(*conditions).correlate(row)
        return JsonArray(listed, counted.scalar_subquery())

    def opened(self, ctx: Context, cell: Any, id: str | None, paging: Paging) -> Page[Any]:
        """The page in a cell of the object with this id, which a page needs that `is_continued`."""
        listed, total = cell if self.is_counted else (cell, None)
        # Only cursors are of a list.
        query: Any = paging if id is None else self.link.query(id, paging.limit, paging.page)
        shown = listed[: paging.limit]
        cursor_of = Cursors(ctx, self.link.listing, query, shown, self.keys_of)
        rows: Any = ShapedRows(self.shape, shown, ctx.services, cursor_of)
        follows = self.is_continued and len(listed) > paging.limit
        return page_of(paging, rows, total, cursor_of(len(shown) - 1) if follows else None)

    def lines_in(self, cell: Any, limit: int) -> Sequence[Any]:
        """The lines of the page in a cell."""
        lines: Sequence[Any] = cell[0] if self.is_counted else cell
        return lines[:limit]
