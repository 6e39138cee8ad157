"""Lists: how each resource is listed, and the pages and cursors of its list."""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any, Generic, TypeVar

import orjson
from sqlalchemy import Column, ColumnElement, Select, Table

from oauth.principals import Principal
from resolvers.operations.context import Context
from resolvers.operations.rows.access import Seen
from resolvers.operations.rows.filters import Filter
from resolvers.operations.shapes.shapes import Shape
from schema.errors import Invalid, problem
from schema.kit.pages import BOTH_PLACES, OTHER_LIST, ListQuery, Page, PageMeta, Pagination, Paging
from schema.kit.sorting import Sorting
from storage.rows.ordering import SortKey, from_json, total_order
from storage.rows.rows import Model, table_of
from storage.sealing import Purpose, read_signed, tagger, unverified

Item = TypeVar("Item")
# The makers of cursors of so many lists and readers are kept, unless a list has longer filters, in letters.
MOST_KEPT, LONGEST_KEPT = 256, 1000

_kept_tagger = lru_cache(maxsize=MOST_KEPT)(tagger)


@dataclass(frozen=True)
class Asked:
    """What a request asks of a list: who asks, the form of each filter, and the conditions that follow.

    The principal has places instead of its ids, as `with_places` makes it.
    """

    principal: Principal
    filters: Mapping[str, Hashable]
    conditions: Sequence[ColumnElement[bool]]
    is_in_change: bool


@dataclass(frozen=True)
class Groups:
    """Rows that `select` computes from the model's. `table` has their columns, and is in no database."""

    table: Table
    select: Callable[[Asked], Select[Any]]


@dataclass(frozen=True, eq=False)
class Listing(Generic[Model]):
    """How one resource is listed: its table, its sort keys and its default order.

    `columns` maps sort keys to columns; other keys sort by the table's column of the same name. The column
    of an `inverted` key has the opposite order: `days_in_status` grows as its moment gets earlier. `identity`
    makes the order total and defaults to the table's `id`. Lists with `replica` are read from a replica, but
    not their changes.
    `filters` says how each argument of `query` restricts the rows; the conditions in `always` hold for every
    page. Without `seen`, the condition of `visible` says which rows a caller sees. `groups` are listed
    instead of the model's rows.

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
    groups: Groups | None = None

    def __post_init__(self) -> None:
        table, keys = self.table, self.sorting.names()
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

    @cached_property
    def name(self) -> str:
        """The list's name in cursors."""
        return table_of(self.model).name

    @property
    def table(self) -> Table:
        """The table that the list reads: the model's, or that of its groups."""
        return table_of(self.model) if self.groups is None else self.groups.table

    def order(self, chosen: Sequence[str]) -> list[SortKey]:
        table = self.table
        keys = []
        for key in chosen or [self.default]:
            name = key.removeprefix("-")
            column = self.columns[name] if name in self.columns else table.c[name]
            descending = key.startswith("-") != (name in self.inverted)
            keys.append(SortKey(column, descending, bool(column.nullable)))
        return total_order(keys, table.c.id if self.identity is None else self.identity)


# Of a line: its sort keys, as orjson writes them in a list.
Keys = Callable[[Sequence[Any]], Sequence[Any]]


def keys_at(places: Sequence[int]) -> Keys:
    """Takes the sort keys at these places out of a line."""
    # Two or more, of which the last makes the order total: of one, it would give what is there, not a list.
    return itemgetter(*places)


def key_places(shape: Shape[Any], order: Sequence[SortKey]) -> list[int]:
    """The place of each sort key in a line: that of its field, or else after all other cells."""
    places: list[int] = []
    end = shape.width
    for key in order:
        place = shape.place_of(key.column)
        places.append(end if place is None else place)
        end += place is None
    return places


def page_of(
    query: ListQuery | Paging, items: list[Item], total: int | None, cursor: str | None
) -> Page[Item]:
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


class Cursors:
    """The cursors that continue the list of `query` after each of these lines, by the line's index.

    `keys_of` takes the sort keys out of a line. A cursor that is shown in several fields is made once.
    """

    def __init__(
        self,
        ctx: Context,
        listing: Listing[Any],
        query: ListQuery,
        lines: Sequence[Sequence[Any]],
        keys_of: Keys,
    ) -> None:
        self._asked = (ctx, listing, query)
        self._lines, self._keys_of = lines, keys_of
        self._made: dict[int, str] = {}

    def __call__(self, index: int) -> str:
        made = self._made.get(index)
        if made is None:
            (made,) = self._signed([self._lines[index]])
            self._made[index] = made
        return made

    def every(self) -> list[str]:
        """The cursors after all of the lines, in their order."""
        if len(self._made) < len(self._lines):
            self._made = dict(enumerate(self._signed(self._lines)))
        # Single ones may have been made in another order, the last before the first.
        return [self._made[index] for index in range(len(self._lines))]

    def _signed(self, lines: Iterable[Sequence[Any]]) -> list[str]:
        ctx, listing, query = self._asked
        place = _place(ctx, listing, query)
        make = _kept_tagger if len(query.parameters) <= LONGEST_KEPT else tagger
        tag = make(ctx.services.secret_key, Purpose.LIST_CURSOR, *place)
        return tag(map(orjson.dumps, map(self._keys_of, lines)))


def open_cursor(ctx: Context, listing: Listing[Any], query: ListQuery) -> list[Any]:
    """The sort keys in the query's cursor. Raises `Invalid` as `read_page` does."""
    order = listing.order(query.sort_keys())
    if query.page is not None:
        raise Invalid([problem(("filters", "after"), BOTH_PLACES, "conflict")])
    place = _place(ctx, listing, query)
    values = read_signed(ctx.services.secret_key, Purpose.LIST_CURSOR, query.after or "", *place)
    if values is None:
        raise Invalid([problem(("filters", "after"), OTHER_LIST, "cursor", input=query.after)])
    return [from_json(key.column, value) for key, value in zip(order, json.loads(values), strict=True)]


def continues(ctx: Context, listing: Listing[Any], query: ListQuery, cursor: str) -> bool:
    """Whether the cursor is of the list of `query`."""
    place = _place(ctx, listing, query)
    return read_signed(ctx.services.secret_key, Purpose.LIST_CURSOR, cursor, *place) is not None


def unverified_place(listing: Listing[Any], cursor: str) -> list[Any]:
    """The sort keys in a cursor of the list in its default order, if it is one: `continues` tells.

    They are values of the types of their columns. Raises `ValueError`.
    """
    order, values = listing.order(()), orjson.loads(unverified(cursor))
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("These are no sort keys.")
    keys = [from_json(key.column, value) for key, value in zip(order, values, strict=True)]
    try:
        return [key.astimezone(UTC) if isinstance(key, datetime) else key for key in keys]
    except OverflowError as error:
        raise ValueError("A moment is out of range.") from error


def _place(ctx: Context, listing: Listing[Any], query: ListQuery) -> tuple[str, ...]:
    """What a cursor is bound to: its list, its reader, and its sorting and filters."""
    return listing.name, ctx.principal.subject, query.parameters
