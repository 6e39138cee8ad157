"""Reading shaped rows: one object or one page by one kept statement, as lines that both surfaces write."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, cast
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy import Select, Table, bindparam, select
from sqlmodel import SQLModel

from oauth.principals import Principal
from resolvers.operations.context import Context
from resolvers.operations.limits.answer_size import read_lines
from resolvers.operations.rows.access import Seen, absent, visible
from resolvers.operations.rows.lists import Cursors, Keys, Listing, key_places, keys_at, open_cursor, page_of
from resolvers.operations.rows.page_forms import Forms, PageForm, rounded, seen_by
from resolvers.operations.rows.plans import form_of, plan_for, with_places
from resolvers.operations.rows.routing import must_be_parted, narrowed
from resolvers.operations.shapes.shaped import ShapedRow, ShapedRows
from resolvers.operations.shapes.shapes import Item, Shape
from schema.kit.links import RowKey
from schema.kit.pages import ListQuery, Page
from storage.dialects.json_rows import written_lines
from storage.dialects.matching import among
from storage.engine.connections import Values
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.rows.rows import Model, table_of
from storage.searching.sqlite import has_indexes

# What needs the number of rows on all pages, and what needs a cursor or says whether a page follows.
_COUNTED = ("meta.total", "meta.pages", "pagination")
_CONTINUED = ("meta.next_cursor", "page_info", "edges.cursor")

# Forms of pages that are the same object wherever they come from.
MOST_FORMS = 1000

Fetch = Callable[[Kept, Values], Awaitable[Sequence[Any]]]


async def read_one(
    ctx: Context,
    model: type[SQLModel],
    shape: Shape[Item],
    *,
    replica: bool = False,
    seen: Seen | None = None,
    **values: Any,
) -> Item:
    """The visible row with these column values, in this shape. Raises `NotFound`.

    `seen` is the condition on the rows that the caller sees, if it is not that of `visible`.
    """
    shape = shape if ctx.chosen is None else shape.narrowed(ctx.chosen)
    chosen = _chosen(ctx, shape, "")
    principal = narrowed(ctx.principal, model)
    has_several = principal.one_workspace_id is None and shape.reads_others(chosen)
    if has_several and await must_be_parted(ctx, principal, model):
        principal = ctx.principal.about(await _workspace_of(ctx, model, seen, values))
    key = ("one", model, shape, seen, chosen, tuple(values), form_of(principal))

    # A string, because this annotation would be made at each request.
    def make() -> "Select[Any]":
        table = table_of(model)
        same = [table.c[name] == bindparam(name, type_=table.c[name].type) for name in values]
        caller = with_places(principal)
        columns = shape.columns(["id"])
        row = select(*columns).where(seen_by(model, seen, caller), *same).subquery("chosen")
        return select(written_lines(select(row), *shape.cells(row, chosen, caller)))

    plan = plan_for(ctx, key, make)
    places = {**values, **principal.ids, **ctx.places}
    ((found,),) = await ctx.fetch(plan, places, replica=replica and ctx.may_be_late)
    listed = read_lines(ctx.caller, found)
    if not listed:
        raise absent(model)
    return cast(Item, ShapedRow(shape, listed[0], ctx.services))


async def _workspace_of(
    ctx: Context, model: type[SQLModel], seen: Seen | None, values: Mapping[str, Any]
) -> UUID:
    """The workspace of the visible row with these column values. Raises `NotFound`."""
    key = ("workspace", model, seen, tuple(values), form_of(ctx.principal))

    def make() -> "Select[Any]":
        table = table_of(model)
        same = [table.c[name] == bindparam(name, type_=table.c[name].type) for name in values]
        return select(table.c.workspace_id).where(seen_by(model, seen, with_places(ctx.principal)), *same)

    plan = plan_for(ctx, key, make)
    rows = await ctx.fetch(plan, {**values, **ctx.principal.ids})
    if not rows:
        raise absent(model)
    workspace_id: UUID = rows[0][0]
    return workspace_id


async def read_by_keys(
    ctx: Context,
    fetch: Fetch,
    model: type[SQLModel],
    shape: Shape[Item],
    keys: Collection[RowKey],
    *,
    path: str = "",
) -> dict[RowKey, Item]:
    """The visible rows among these keys, in this shape; `path` leads to them in the caller's selection.

    `fetch` runs the statement: that of the context, or of a connection.
    """
    chosen = _chosen(ctx, shape, path)
    workspace_ids = list({key.workspace_id for key in keys})
    principal = narrowed(ctx.principal, model, workspace_ids)
    form = ("keys", model, shape, chosen, form_of(principal))

    def make() -> "Select[Any]":
        table = table_of(model)
        workspaces = among(table.c.workspace_id, "workspace_ids")
        ids = among(table.c.id, "ids")
        caller = with_places(principal)
        rows = select(table).where(visible(model, caller), workspaces, ids).subquery("chosen")
        cells = shape.cells(rows, chosen, caller)
        return select(written_lines(select(rows), *cells, rows.c.workspace_id, rows.c.id))

    values = {
        "workspace_ids": workspace_ids,
        "ids": [key.id for key in keys],
        **principal.ids,
        **ctx.places,
    }
    ((found,),) = await fetch(plan_for(ctx, form, make), values)
    return {
        RowKey(UUID(line[-2]), UUID(line[-1])): cast(Item, ShapedRow(shape, line, ctx.services))
        for line in read_lines(ctx.caller, found)
    }


async def read_page(
    ctx: Context, listing: Listing[Model], shape: Shape[Item], query: ListQuery
) -> Page[Item]:
    """One page of the visible rows that the query's filters leave, in this shape.

    Raises `Invalid` for a cursor that was altered, belongs to another list, or comes with `page`.
    """
    shape = shape if ctx.chosen is None else shape.narrowed(ctx.chosen)
    principal = narrowed(ctx.principal, listing.model, getattr(query, "workspace_id", None))
    is_late = listing.groups is None and (query.page or 1) > 1
    may_be_parted = principal.one_workspace_id is None and (
        is_late or shape.reads_others(_chosen(ctx, shape, "data."))
    )
    is_parted = may_be_parted and await must_be_parted(ctx, principal, listing.model)
    prepared = _prepare(ctx, principal, listing, _keys_of(listing.table) if is_parted else shape, query)
    values = {**principal.ids, **prepared.values, **ctx.places}
    plan = plan_for(ctx, prepared.form, partial(prepared.form.statement, principal))
    replica = prepared.replica and ctx.may_be_late
    ((total, found),) = await ctx.fetch(plan, values, replica=replica)
    listed = read_lines(ctx.caller, found)
    shown = listed[: query.limit]
    end = prepared.values["skipped"] + len(shown)
    more = len(listed) > query.limit if total is None else end < total

    lines = shown
    if is_parted:
        fetch = partial(ctx.fetch, replica=replica)
        read = await _lines_by_workspace(ctx, fetch, listing.model, shape, shown)
        # What was deleted meanwhile is not there any more.
        shown = [key for key in shown if key[0] in read]
        lines = [read[key[0]] for key in shown]
    cursor_of = Cursors(ctx, listing, query, shown, prepared.keys_of)
    rows = ShapedRows(shape, lines, ctx.services, cursor_of)
    if prepared.shows_cursors:
        cursor_of.every()
    cursor = cursor_of(len(shown) - 1) if prepared.form.is_continued and more and shown else None
    return page_of(query, cast("list[Item]", rows), total, cursor)


class _Key(BaseModel):
    """Which row a line is of."""

    id: UUID
    workspace_id: UUID


@cache
def _keys_of(table: Table) -> Shape[_Key]:
    """The shape of the keys of a list's rows, in which nothing else is read."""
    return Shape(_Key, table)


async def _lines_by_workspace(
    ctx: Context, fetch: Fetch, model: type[SQLModel], shape: Shape[Any], keys: Sequence[Sequence[Any]]
) -> dict[str, Sequence[Any]]:
    """The lines of the rows with these keys by their ids, read in each workspace by itself."""
    by_workspace: dict[UUID, list[RowKey]] = defaultdict(list)
    for id, workspace_id, *_ in keys:
        by_workspace[UUID(workspace_id)].append(RowKey(UUID(workspace_id), UUID(id)))
    lines: dict[str, Sequence[Any]] = {}
    for own in by_workspace.values():
        rows = await read_by_keys(ctx, fetch, model, shape, own, path="data.")
        lines |= {str(key.id): cast("ShapedRow[Any]", row).line for key, row in rows.items()}
    return lines


@dataclass(frozen=True, eq=False, slots=True)
class _Prepared:
    """What is known of a page before it is read: its statement's form, and the values besides the caller's.

    `keys_of` takes the sort keys out of a line; `replica` says whether a replica may answer. A page that
    `shows_cursors` has one for each row.
    """

    form: PageForm
    values: Mapping[str, Any]
    keys_of: Keys
    replica: bool
    shows_cursors: bool


def _prepare(
    ctx: Context, principal: Principal, listing: Listing[Any], shape: Shape[Any], query: ListQuery
) -> _Prepared:
    """The same for all callers with ids of the same kinds, so it is worked out once for kept arguments."""
    if query.after is not None:
        return _prepare_place(ctx, principal, listing, shape, query, place=open_cursor(ctx, listing, query))
    dialect = ctx.services.database.dialect.name
    key = (listing, shape, form_of(principal), ctx.selection, ctx.transaction is None, dialect)
    prepared: _Prepared | None = query.prepared.get(key)
    if prepared is None:
        prepared = query.prepared[key] = _prepare_place(ctx, principal, listing, shape, query)
    return prepared


def _prepare_place(
    ctx: Context,
    principal: Principal,
    listing: Listing[Any],
    shape: Shape[Any],
    query: ListQuery,
    *,
    place: Sequence[Any] | None = None,
) -> _Prepared:
    """`place` holds the sort keys after which the page begins."""
    sent, skipped = query.sent(), ((query.page or 1) - 1) * query.limit
    filters = tuple((name, listing.filters[name].form(value)) for name, value in sent.items())
    form = PageForm(
        listing,
        shape,
        chosen=_chosen(ctx, shape, "data."),
        principal=form_of(principal),
        filters=filters,
        sorting=tuple(query.sort_keys()),
        limit=rounded(query.limit),
        is_counted=place is None and any(map(ctx.wants, _COUNTED)),
        # Models of edges have their cursors, whether or not these are selected.
        is_continued=any(map(ctx.wants, _CONTINUED)) or (ctx.chosen is None and ctx.wants("edges")),
        nulls_in_place=None if place is None else tuple(value is None for value in place),
        is_late=skipped > 0,
        is_in_change=ctx.transaction is not None,
        search=_search(ctx.services.database, listing, shape, filters),
    )
    values: dict[str, Any] = {"skipped": skipped}
    for name, value in sent.items():
        values |= listing.filters[name].named_values(name, value)
    values |= {f"after_{index}": value for index, value in enumerate(place or ())}
    # A caller that keeps a copy asks for each span once: what a replica has not got yet would be lost to it.
    replica = listing.replica and not query.is_of_changes()
    keys_of = keys_at(key_places(shape, listing.order(form.sorting)))
    shows_cursors = ctx.chosen is not None and ctx.wants("edges.cursor")
    return _Prepared(_shared(form), values, keys_of, replica, shows_cursors)


def _search(database: Database, listing: Listing[Any], shape: Shape[Any], filters: Forms) -> str | None:
    """The filter whose rows an index of SQLite finds; None if no index does.

    With links, the statement would have more levels than SQLite's parser takes.
    """
    if not database.is_sqlite or (shape.chosen is not None and shape.chosen.links):
        return None
    found = (name for name, form in filters if listing.filters[name].candidates(form) is not None)
    name = next(found, None)
    return name if name is not None and has_indexes(str(database.engine.url.database)) else None


@lru_cache(maxsize=MOST_FORMS)
def _shared(form: PageForm) -> PageForm:
    """One object for equal forms: looking its plan up then compares none of its parts."""
    return form


def _chosen(ctx: Context, shape: Shape[Any], path: str) -> frozenset[str]:
    """The parts that the caller selected; an entity tag is made of all."""
    selection = ctx.selection
    if selection is None or ctx.chosen is not None or f"{path}etag" in selection:
        return shape.parts
    return frozenset([name for name in shape.parts if path + name in selection])
