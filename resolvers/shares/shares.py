"""Operations on shares."""

from typing import Any
from uuid import UUID

from oauth.scopes import Scope
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.filters import any_of, contains, metadata_pairs
from resolvers.operations.lists import Listing
from resolvers.operations.lookups import check_workspaces, get_for_update, workspace_for
from resolvers.operations.reading import read_one, read_page
from resolvers.shares.contents import replace_custom_fields, replace_medias, replace_prices
from resolvers.shares.shapes import SHARE
from schema.pages import Page
from schema.shares import Share, ShareCreate, ShareQuery, ShareSorting, ShareUpdate
from storage.clock import now
from storage.rows import insert_row, table_of, update_row
from storage.tables.shares import ShareRow

_table = table_of(ShareRow)
_PARTS = ("prices", "medias", "attached_custom_fields")
LISTING = Listing(
    ShareRow,
    ShareSorting,
    default="-created_at",
    columns={"name": _table.c.name_folded},
    query=ShareQuery,
    filters={
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


@requires(Scope.SHARES_WRITE, gives=get_share)
async def create_share(ctx: Context, data: ShareCreate) -> Share:
    """Creates a share with its prices, media and custom fields, all or nothing."""
    workspace_id = await workspace_for(ctx, data.workspace_id)
    values = data.model_dump(exclude={*_PARTS, "workspace_id"})
    row = await insert_row(ctx.connection, ShareRow, workspace_id=workspace_id, **values)
    await _replace_parts(ctx, row, data.model_dump(include=set(_PARTS)))
    return await get_share(ctx, row.id)


@requires(Scope.SHARES_WRITE, gives=get_share)
async def update_share(ctx: Context, id: UUID, data: ShareUpdate) -> Share:
    """Updates the fields that were sent. Lists are replaced as a whole; prices left out are archived."""
    row = await get_for_update(ctx, ShareRow, id=id)
    changes = data.changes()
    parts = data.model_dump(include={name for name in _PARTS if changes.pop(name, None) is not None})
    if parts:
        changes["modified_at"] = now()
    row = await update_row(ctx.connection, ShareRow, row, **changes)
    await _replace_parts(ctx, row, parts)
    return await get_share(ctx, id)


@requires(Scope.SHARES_WRITE)
async def delete_share(ctx: Context, id: UUID) -> UUID:
    """Archives a share: its history stays, but it can no longer be purchased."""
    row = await get_for_update(ctx, ShareRow, id=id)
    await update_row(ctx.connection, ShareRow, row, is_archived=True)
    return id


async def _replace_parts(ctx: Context, share: ShareRow, parts: dict[str, Any]) -> None:
    if parts.get("prices") is not None:
        await replace_prices(ctx, share, parts["prices"])
    if parts.get("medias") is not None:
        await replace_medias(ctx, share, parts["medias"])
    if parts.get("attached_custom_fields") is not None:
        await replace_custom_fields(ctx, share, parts["attached_custom_fields"])
