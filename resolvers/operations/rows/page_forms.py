"""The form of a page: what its statement depends on. Pages of the same form share a statement."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, cast
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    bindparam,
    case,
    func,
    literal_column,
    select,
)
from sqlmodel import SQLModel

from oauth.principals import Principal
from resolvers.operations.rows.access import Seen, total_visible, visible
from resolvers.operations.rows.filters import chosen_values
from resolvers.operations.rows.lists import Asked, Listing, key_places
from resolvers.operations.rows.plans import with_places
from resolvers.operations.rows.searching import find
from resolvers.operations.shapes.shapes import Shape
from storage.dialects.json_rows import written_lines
from storage.dialects.selected_order import AsSelected
from storage.rows.ordering import SortKey, after, by_keys

# The names of the filters that were sent, and the form of each.
Forms = tuple[tuple[str, Any], ...]

# Limits up to this one are not rounded.
SMALL_LIMIT = 5


def rounded(limit: int) -> int:
    """The limit, rounded up to one of 15; databases would otherwise keep 100 plans of a list.

    As a parameter, the limit would be unknown to PostgreSQL's kept plans, which would then sort whole tables.
    """
    if limit <= SMALL_LIMIT:
        return limit
    step = SMALL_LIMIT if limit <= 2 * SMALL_LIMIT else 2 * SMALL_LIMIT
    return -(-limit // step) * step


def seen_by(model: type[SQLModel], seen: Seen | None, principal: Principal) -> ColumnElement[bool]:
    """The condition on the rows that the principal sees: `seen`, or else that of `visible`."""
    return visible(model, principal) if seen is None else seen(principal)


@dataclass(frozen=True)
class PageForm:
    """What the statement of a page depends on; everything else is a parameter.

    `search` is the filter whose rows an index of SQLite finds, if there are few.
    """

    listing: Listing[Any]
    shape: Shape[Any]
    chosen: frozenset[str]
    principal: Any
    filters: Forms
    sorting: tuple[str, ...]
    limit: int
    is_counted: bool
    is_continued: bool
    nulls_in_place: tuple[bool, ...] | None
    is_late: bool
    is_in_change: bool
    search: str | None = None

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, each.name) for each in fields(self)))

    def __hash__(self) -> int:
        """Computed once: the form of kept arguments is looked up at each request."""
        return self._hash

    def statement(self, principal: Principal) -> Select[Any]:
        """The statement of one row: the total and the lines. Sort keys that are no fields end each line."""
        own, groups = with_places(principal), self.listing.groups
        conditions = self._conditions(own)
        if groups is None:
            return select(*self._found(own, conditions))
        asked = Asked(own, dict(self.filters), conditions, self.is_in_change)
        columns = self._columns(own, [], self.listing.table)
        return select(*columns).add_cte(groups.select(asked).cte(groups.table.name))

    def _found(
        self, principal: Principal, conditions: Sequence[ColumnElement[bool]]
    ) -> list[ColumnElement[Any]]:
        """The columns of the statement: those of rows that an index found, if it found few."""
        table = self.listing.table
        total, written = self._columns(principal, conditions, table)
        if self.search is None:
            return [total, written]
        chosen, form = self.listing.filters[self.search], dict(self.filters)[self.search]
        candidates = chosen.candidates(form)
        if candidates is None:
            raise TypeError(f"No index finds rows by {self.search}.")
        own = seen_by(self.listing.model, self.listing.seen, principal)
        found = find(table, candidates(own, *chosen.places(self.search, form)))
        few_total, few_written = self._columns(principal, conditions, found.rows)
        return [
            case((found.are_few, few_total), else_=total),
            case((found.are_few, _apart(few_written)), else_=_apart(written)),
        ]

    def _columns(
        self, principal: Principal, conditions: Sequence[ColumnElement[bool]], rows: FromClause
    ) -> list[ColumnElement[Any]]:
        """The total and the lines, of rows selected from a table or from a join with it."""
        order = self.listing.order(self.sorting)
        page = self._page(order, conditions, rows, principal).subquery("chosen")
        keys = [replace(key, column=page.c[key.column.name]) for key in order]
        shown = select(page).order_by(*(AsSelected(key.order) for key in keys)).limit(self._limit)
        cells = self.shape.cells(page, self.chosen, principal)
        if self.is_continued:
            ends = zip(keys, key_places(self.shape, order), strict=True)
            cells += [key.column for key, place in ends if place >= self.shape.width]
        return [self._total(principal, conditions, rows), written_lines(shown, *cells, are_limited=True)]

    def _conditions(self, principal: Principal) -> list[ColumnElement[bool]]:
        filters = self.listing.filters
        return [
            seen_by(self.listing.model, self.listing.seen, principal),
            *self.listing.always,
            *(filters[name].make(name, form, principal) for name, form in self.filters),
        ]

    def _page(
        self,
        order: Sequence[SortKey],
        conditions: Sequence[ColumnElement[bool]],
        source: FromClause,
        principal: Principal,
    ) -> Select[Any]:
        table = self.listing.table
        if self.nulls_in_place is not None:
            places = [
                None if is_null else bindparam(f"after_{index}", type_=key.column.type)
                for index, (key, is_null) in enumerate(zip(order, self.nulls_in_place, strict=True))
            ]
            conditions = [*conditions, after(order, places)]
        columns = self.shape.columns(key.column.name for key in order)
        rows = (
            select(*columns)
            .select_from(source)
            .where(*conditions)
            .order_by(*(key.order for key in order))
            .limit(self._limit)
        )
        if not self.is_late:
            return rows
        rows = rows.offset(bindparam("skipped", type_=BigInteger()))
        if self.shape.fields.keys() <= set(table.primary_key.columns.keys()):
            return rows
        # A place for it, as the statement has for each id.
        workspace_id = cast("ColumnElement[UUID] | None", principal.one_workspace_id)
        return by_keys(rows, table, order, workspace_id)

    @property
    def _limit(self) -> ColumnElement[int]:
        """Of the page; without a total, one row too many says whether a page follows."""
        return literal_column(str(self.limit + (self.is_continued and not self.is_counted)), Integer)

    def _total(
        self, principal: Principal, conditions: Sequence[ColumnElement[bool]], rows: FromClause
    ) -> ColumnElement[Any]:
        if not self.is_counted:
            return literal_column("NULL")
        kept = self._kept_total(principal)
        if kept is not None:
            return kept
        return select(func.count()).select_from(rows).where(*conditions).scalar_subquery()

    def _kept_total(self, principal: Principal) -> ColumnElement[Any] | None:
        """The total that is kept for these filters; None if it has to be counted.

        Inside a change it is counted: the transaction's own changes reach the totals only at its end.
        """
        listing = self.listing
        is_part = bool(listing.always) or listing.seen is not None or listing.groups is not None
        places = chosen_values(listing.filters, self.filters)
        if self.is_in_change or is_part or places is None:
            return None
        of_workspace = places.pop("workspace_id", None)
        workspace_ids: Any = None if of_workspace is None else [of_workspace]
        return total_visible(listing.model, principal, places, workspace_ids)


def _apart(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The column of a statement of one row as a value of another."""
    return select(column).scalar_subquery()
