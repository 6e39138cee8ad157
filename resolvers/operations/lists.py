"""Lists: filtered, totally ordered, read by page or cursor, and counted only if the count is selected."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import orjson
from sqlalchemy import Column, ColumnElement, ScalarSelect, Select, func, select
from sqlalchemy import Row as SelectedRow
from sqlmodel import SQLModel

from resolvers.operations.access import Seen, total_visible, visible
from resolvers.operations.context import Context
from resolvers.operations.filters import Filter
from schema.errors import Invalid, problem
from schema.pages import ListQuery, Page, PageMeta, Pagination
from schema.sorting import Sorting
from storage.connections import Connection
from storage.ordering import SortKey, after, by_keys, from_json, to_json, total_order
from storage.rows import Model, Values, read, table_of, values_of
from storage.sealing import Purpose, read_signed, signed

Item = TypeVar("Item")
Record = TypeVar("Record")
Assemble = Callable[[Connection, Sequence[Record]], Awaitable[list[Item]]]


@dataclass(frozen=True, eq=False)
class Listing(Generic[Model]):
    """How one resource is listed: its table, its sort keys and its default order.

    `columns` maps sort keys to columns; other keys sort by the table's column of the same name. The column
    of an `inverted` key has the opposite order: `days_in_status` grows as its moment gets earlier. `identity`
    makes the order total and defaults to the table's `id`. Lists with `replica` are read from a replica.
    `filters` says how each argument of `query` restricts the rows; the conditions in `always` hold for every
    page. Without `seen`, the condition of `visible` says which rows a caller sees.

    Raises `TypeError` if a sort key has no column, a column no sort key, or an argument no filter.
    """

    model: type[Model]
    sorting: type[Sorting]
    default: str
    columns: Mapping[str, Column[Any]] = field(default_factory=dict)
    inverted: frozenset[str] = frozenset()
    identity: Column[Any] | None = None
    replica: bool = False
    query: type[ListQuery] | None = None
    filters: Mapping[str, Filter] = field(default_factory=dict)
    always: tuple[ColumnElement[bool], ...] = ()
    seen: Seen | None = None

    def __post_init__(self) -> None:
        table, keys = table_of(self.model), self.sorting.names()
        without_column = sorted(keys - self.columns.keys() - set(table.c.keys()))
        without_key = sorted((self.columns.keys() | self.inverted) - keys)
        if without_column or without_key or self.default not in list(self.sorting):
            raise TypeError(
                f"The list of {table.name} and {self.sorting.__name__} disagree: sort keys without a column "
                f"{without_column}, columns without a sort key {without_key}, default {self.default!r}."
            )

        names = self.filters.keys() if self.query is None else self.query.filter_names().keys()
        if different := sorted(names ^ self.filters.keys()):
            raise TypeError(f"Arguments of the list of {table.name} and its filters disagree: {different}.")

    def order(self, chosen: Sequence[str]) -> list[SortKey]:
        table = table_of(self.model)
        keys = []
        for key in chosen or [self.default]:
            name = key.removeprefix("-")
            column = self.columns[name] if name in self.columns else table.c[name]
            descending = key.startswith("-") != (name in self.inverted)
            keys.append(SortKey(column, descending, bool(column.nullable)))
        return total_order(keys, table.c.id if self.identity is None else self.identity)


async def list_page(
    ctx: Context,
    listing: Listing[Model],
    query: ListQuery,
    conditions: Sequence[ColumnElement[bool]],
    assemble: Assemble[Model, Item],
) -> Page[Item]:
    """One page of the visible rows that meet `conditions`.

    Raises `Invalid` for a cursor that was altered, belongs to another list, or comes with `page`.
    """

    async def assemble_records(connection: Connection, rows: Sequence[SelectedRow[Any]]) -> list[Item]:
        return await assemble(connection, [read(listing.model, row) for row in rows])

    matching = [visible(listing.model, ctx.principal), *conditions]
    statement = select(table_of(listing.model)).where(*matching)
    total = _kept_total(ctx, listing, query)
    return await list_rows(ctx, listing, query, statement, assemble_records, total_of_rows=total)


def each(make: Callable[[Values], Item]) -> Assemble[Any, Item]:
    """Makes each item from the values of one row."""

    async def assemble(_: Connection, rows: Sequence[SQLModel]) -> list[Item]:
        return [make(values_of(row)) for row in rows]

    return assemble


async def list_rows(
    ctx: Context,
    listing: Listing[Any],
    query: ListQuery,
    rows: Select[Any],
    assemble: Assemble[SelectedRow[Any], Item],
    *,
    total_of_rows: ScalarSelect[int] | None = None,
) -> Page[Item]:
    """One page of `rows`, which selects the listing's sort columns. Raises `Invalid` as `list_page` does.

    Without `total_of_rows`, the rows are counted.
    """
    order = listing.order(query.sort_keys())
    statement = rows.order_by(*(key.order for key in order)).limit(query.limit + 1)
    page = query.page or 1
    if query.after is None:
        statement = statement.offset((page - 1) * query.limit)
        if page > 1 and rows.get_final_froms() == [table_of(listing.model)]:
            statement = by_keys(statement, table_of(listing.model), order)
    else:
        statement = statement.where(after(order, open_cursor(ctx, listing, query)))
    counts = query.after is None and any(map(ctx.wants, ("meta.total", "meta.pages", "pagination")))
    async with ctx.snapshot(replica=listing.replica) as connection:
        selected = (await connection.execute(statement)).all()
        counted = rows.with_only_columns(func.count(), maintain_column_froms=True)
        if total_of_rows is not None:
            counted = select(total_of_rows)
        total = (await connection.execute(counted)).scalar_one() if counts else None
        items = await assemble(connection, selected[: query.limit])
    more = len(selected) > query.limit
    cursor = make_cursor(ctx, listing, query, selected[query.limit - 1]) if more else None
    return page_of(query, items, total, cursor)


def _kept_total(ctx: Context, listing: Listing[Any], query: ListQuery) -> ScalarSelect[int] | None:
    """The kept total of a list whose filters are columns of the same name; others are counted."""
    if ctx.transaction is not None:
        # The transaction's own changes reach the totals only at its end.
        return None
    filters = query.model_dump(exclude={"page", "limit", "after", "sorting"}, exclude_none=True)
    workspace_ids = filters.pop("workspace_id", None)
    return total_visible(listing.model, ctx.principal, filters, workspace_ids)


def page_of(query: ListQuery, items: list[Item], total: int | None, cursor: str | None) -> Page[Item]:
    """The page of `items`; `total` is None if the list was not counted."""
    pages = None if total is None else -(-total // query.limit)
    meta = PageMeta.made(
        total=total,
        page=None if query.after else query.page or 1,
        per_page=query.limit,
        pages=pages,
        next_cursor=cursor,
    )
    counts = None if total is None else Pagination.made(total_count=total, max_page=pages or 0)
    return Page.made(data=items, meta=meta, pagination=counts)


def one_of(column: Column[Any], values: Sequence[Any] | None) -> list[ColumnElement[bool]]:
    """The condition of a repeatable filter: one of the values; none if the filter was omitted."""
    return [] if values is None else [column.in_([getattr(value, "value", value) for value in values])]


def contains(column: Column[Any], part: str | None) -> list[ColumnElement[bool]]:
    """The condition that the case-folded text contains `part`; none if the filter was omitted."""
    return [] if part is None else [column.contains(part.casefold(), autoescape=True)]


def make_cursor(ctx: Context, listing: Listing[Any], query: ListQuery, row: Any) -> str:
    """The cursor that continues the list of `query` after `row`."""
    order = listing.order(query.sort_keys())
    return sign_cursor(ctx, listing, query, [to_json(getattr(row, key.column.name)) for key in order])


def sign_cursor(ctx: Context, listing: Listing[Any], query: ListQuery, keys: Sequence[Any]) -> str:
    """The cursor that continues the list of `query` after the row with these sort keys, as JSON has them."""
    place = _place(ctx, listing, query)
    return signed(ctx.services.secret_key, Purpose.LIST_CURSOR, orjson.dumps(keys).decode(), *place)


def open_cursor(ctx: Context, listing: Listing[Any], query: ListQuery) -> list[Any]:
    """The sort keys in the query's cursor. Raises `Invalid` as `list_page` does."""
    order = listing.order(query.sort_keys())
    if query.page is not None:
        raise Invalid([problem(("filters", "after"), "Send either `page` or `after`, not both", "conflict")])
    place = _place(ctx, listing, query)
    values = read_signed(ctx.services.secret_key, Purpose.LIST_CURSOR, query.after or "", *place)
    if values is None:
        message = "The cursor does not belong to this list with this sorting and these filters"
        raise Invalid([problem(("filters", "after"), message, "cursor", input=query.after)])
    return [from_json(key.column, value) for key, value in zip(order, json.loads(values), strict=True)]


def _place(ctx: Context, listing: Listing[Any], query: ListQuery) -> tuple[str, ...]:
    """What a cursor is bound to: its list, its reader, and its sorting and filters."""
    return table_of(listing.model).name, ctx.principal.subject, query.parameters
