"""Operations on shares."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from oauth.scopes import Scope
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.filters import any_of, changed_in, metadata_pairs
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces, get_for_update, workspace_for
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.rows.searching import contains
from resolvers.shares.contents import (
    replace_custom_fields,
    replace_downloads,
    replace_medias,
    replace_prices,
    sort_amount,
)
from resolvers.shares.shapes import SHARE
from schema.kit.pages import Page
from schema.shares.shares import Share, ShareCreate, ShareQuery, ShareSorting, ShareUpdate
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.rows.rows import insert_row, table_of, update_row
from storage.tables.shares.shares import ShareRow

_table = table_of(ShareRow)
_PARTS: Mapping[str, Callable[..., Awaitable[bool]]] = {
    "prices": replace_prices,
    "medias": replace_medias,
    "downloads": replace_downloads,
    "attached_custom_fields": replace_custom_fields,
}
LISTING = Listing(
    ShareRow,
    ShareSorting,
    default="-created_at",
    columns={
        "modified_at": _table.c.changed_at,
        "name": _table.c.name_folded,
    },
    query=ShareQuery,
    filters={
        **changed_in(_table.c.changed_at),
        "id": any_of(_table.c.id),
        "workspace_id": any_of(_table.c.workspace_id),
        "visibility": any_of(_table.c.visibility),
        "query": contains(_table.c.name_folded),
        "metadata": metadata_pairs(_table.c.metadata),
        "is_archived": any_of(_table.c.is_archived),
    },
)


@requires(Scope.SHARES_READ)
async def list_shares(ctx: Context, filters: ShareQuery) -> Page[Share]:
    """Lists shares, newest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, SHARE, filters)


@requires(Scope.SHARES_READ)
async def get_share(ctx: Context, id: UUID) -> Share:
    """Returns a share."""
    return await read_one(ctx, ShareRow, SHARE, id=id)


@requires(Scope.SHARES_WRITE, gives=get_share, causes=(ChangeKind.SHARE_CREATED,))
async def create_share(ctx: Context, data: ShareCreate) -> Share:
    """Creates a share with its prices, media, downloads and custom fields, all or nothing."""
    workspace_id = await workspace_for(ctx, data.workspace_id)
    values = data.model_dump(exclude={*_PARTS, "workspace_id"})
    parts = data.model_dump(include=set(_PARTS))
    values |= {"workspace_id": workspace_id, "price_amount": sort_amount(parts["prices"][0])}
    row = await insert_row(ctx.connection, ShareRow, **values)
    await _replace_parts(ctx, row, parts)
    return await get_share(ctx, row.id)


@requires(
    Scope.SHARES_WRITE,
    gives=get_share,
    causes=(ChangeKind.SHARE_UPDATED, ChangeKind.SHARE_ARCHIVED, ChangeKind.SHARE_UNARCHIVED),
)
async def update_share(ctx: Context, id: UUID, data: ShareUpdate) -> Share:
    """Updates the fields that were sent. Lists are replaced as a whole; prices left out are archived."""
    row = await get_for_update(ctx, ShareRow, id=id)
    changes = data.changes()
    emptied = {name: changes.pop(name) for name in _PARTS if name in changes}
    # With the defaults of their items, which `changes` leaves out.
    sent = data.model_dump(include=set(emptied))
    parts = {name: value if sent[name] is None else sent[name] for name, value in emptied.items()}
    if await _replace_parts(ctx, row, parts):
        changes["modified_at"] = now()
    await update_row(ctx.connection, ShareRow, row, **changes)
    return await get_share(ctx, id)


@requires(Scope.SHARES_WRITE, removes=get_share, causes=(ChangeKind.SHARE_ARCHIVED,))
async def delete_share(ctx: Context, id: UUID) -> UUID:
    """Archives a share: its history stays, but it can no longer be purchased."""
    row = await get_for_update(ctx, ShareRow, id=id)
    await update_row(ctx.connection, ShareRow, row, is_archived=True)
    return id


async def _replace_parts(ctx: Context, share: ShareRow, parts: dict[str, Any]) -> bool:
    """Replace the lists that are given; returns whether one of them was different."""
    has_changed = False
    for name, replace in _PARTS.items():
        if parts.get(name) is not None:
            has_changed |= await replace(ctx, share, parts[name])
    return has_changed
