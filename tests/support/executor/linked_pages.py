"""Pages of linked lists, read otherwise than plans do: one for each of many parents, by one statement."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import BigInteger, Column, and_, func, literal, or_, select
from sqlalchemy import Row as SelectedRow

from resolvers.operations.context import Context
from resolvers.operations.rows.access import visible
from resolvers.operations.rows.links import ToMany
from resolvers.operations.rows.lists import Cursors, key_places, keys_at, page_of, unverified_place
from resolvers.operations.rows.reading import read_by_keys
from resolvers.operations.shapes.shaped import as_model
from schema.errors import Invalid
from schema.kit.links import RowKey
from schema.kit.pages import Listed, Page, Paging
from storage.engine.connections import Connection
from storage.rows.ordering import after


class PageKey(NamedTuple):
    """A page of the rows behind a link; `counted` says whether the answer shows their total."""

    workspace_id: UUID
    parent_id: UUID
    limit: int
    page: int
    after: str | None
    counted: bool

    @property
    def parent(self) -> RowKey:
        return RowKey(self.workspace_id, self.parent_id)


# A row with its `place` and `total` among its parent's rows, and the line made of it.
Numbered = tuple[SelectedRow[Any], Any]


async def load_pages(
    linked: ToMany, ctx: Context, keys: Sequence[PageKey]
) -> list[Page[Any] | BaseException]:
    """The pages for `keys` in the same order, or why their cursors are refused."""
    loaded: dict[PageKey, Page[Any] | BaseException] = {}
    by_cursor: dict[str | None, list[PageKey]] = defaultdict(list)
    for key in keys:
        try:
            if key.after is not None:
                linked.check_cursor(ctx, key.parent_id, key.after)
            by_cursor[key.after].append(key)
        except Invalid as refusal:
            loaded[key] = refusal
    for cursor, same in by_cursor.items():
        loaded |= zip(same, await _load(ctx, linked, same, cursor), strict=True)
    return [loaded[key] for key in keys]


async def _load(ctx: Context, linked: ToMany, keys: Sequence[PageKey], cursor: str | None) -> list[Page[Any]]:
    """The pages for `keys` after the same cursor.

    Only indexed columns are numbered; the rows of the pages are looked up afterwards.
    """
    table = linked.listing.table
    column = table.c[linked.column]
    counted = cursor is None and any(key.counted for key in keys)
    parents = (table.c.workspace_id, column)
    order = [key.order for key in linked.listing.order(())]
    total = func.count().over(partition_by=parents) if counted else literal(None, BigInteger)
    place = func.row_number().over(partition_by=parents, order_by=order)
    numbered_rows = select(
        table.c.workspace_id, table.c.id, place.label("place"), total.label("total")
    ).where(visible(linked.listing.model, ctx.principal), of_keys(column, [key.parent for key in keys]))
    if cursor is not None:
        rows_after = after(linked.listing.order(()), unverified_place(linked.listing, cursor))
        numbered_rows = numbered_rows.where(rows_after)
    numbered = numbered_rows.subquery()
    # Each parent's first row too, so that a page past the end knows the total, and one row too many, which
    # says whether a page follows.
    places = [numbered.c.place == 1]
    for limit, page in {(key.limit, key.page) for key in keys}:
        first, last = ((page - 1) * limit + 1, page * limit + 1)
        places.append(numbered.c.place.between(literal(first, BigInteger), literal(last, BigInteger)))
    same = and_(table.c.workspace_id == numbered.c.workspace_id, table.c.id == numbered.c.id)
    named = (table.c.workspace_id, table.c.id, column, *(key.column for key in linked.listing.order(())))
    columns = {each.name: each for each in named}.values()
    joined = select(*columns, numbered.c.place, numbered.c.total).join_from(numbered, table, same)
    statement = joined.where(or_(*places)).order_by(numbered.c.place)

    async def read(connection: Connection) -> tuple[Sequence[SelectedRow[Any]], dict[RowKey, Any]]:
        rows = (await connection.execute(statement)).all()
        row_keys = [RowKey(row.workspace_id, row.id) for row in rows]
        return rows, await read_by_keys(ctx, connection.fetch, linked.listing.model, linked.shape, row_keys)

    rows, items = await ctx.in_snapshot(read, replica=linked.listing.replica)
    by_parent: dict[RowKey, list[Numbered]] = defaultdict(list)
    for row in rows:
        item = items[RowKey(row.workspace_id, row.id)]
        by_parent[RowKey(row.workspace_id, getattr(row, column.name))].append((row, item))
    return [_page(ctx, linked, key, by_parent[key.parent]) for key in keys]


def of_keys(column: Column[Any], keys: Sequence[RowKey]) -> Any:
    """The condition that `column` is one of these ids in one of these workspaces."""
    return and_(
        column.table.c.workspace_id.in_({workspace_id for workspace_id, _ in keys}),
        column.in_([id for _, id in keys]),
    )


def _page(ctx: Context, linked: ToMany, key: PageKey, numbered: list[Numbered]) -> Page[Any]:
    limit, page = key.limit, key.page
    skipped = (page - 1) * limit
    here = [item for row, item in numbered if skipped < row.place <= skipped + limit]
    more = any(row.place > skipped + limit for row, _ in numbered) and here
    total = (numbered[0][0].total if numbered else 0) if key.counted and key.after is None else None
    query = linked.query(key.parent_id, limit, page)
    keys_of = keys_at(key_places(linked.shape, linked.listing.order(())))
    items = Listed([as_model(item) for item in here])
    items.cursor_of = Cursors(ctx, linked.listing, query, [item.line for item in here], keys_of)
    paging = Paging(limit, page, key.after)
    return page_of(paging, items, total, items.cursor_of(len(here) - 1) if more else None)
