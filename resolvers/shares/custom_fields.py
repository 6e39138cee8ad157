"""Operations on custom fields."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import and_, select

from oauth.scopes import Scope
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.filters import any_of, changed_in
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces, get_for_update, workspace_for
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.shapes.shaped import shaped
from resolvers.shares.shapes import CUSTOM_FIELD
from schema.errors import Invalid, problem
from schema.kit.pages import Page
from schema.kit.sorting import ResourceSorting
from schema.shares.custom_fields import CustomField, CustomFieldCreate, CustomFieldQuery, CustomFieldUpdate
from storage.changes.kinds import ChangeKind
from storage.enums import CustomFieldType
from storage.rows.rows import delete_row, insert_row, table_of, update_row, update_rows
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.shares import ShareCustomFieldRow, ShareRow

_table, _shares = table_of(CustomFieldRow), table_of(ShareRow)
_attachments = table_of(ShareCustomFieldRow)
LISTING = Listing(
    CustomFieldRow,
    ResourceSorting,
    default="created_at",
    columns={"modified_at": _table.c.changed_at},
    query=CustomFieldQuery,
    filters={
        "workspace_id": any_of(_table.c.workspace_id),
        **changed_in(_table.c.changed_at),
    },
)


@requires(Scope.CUSTOM_FIELDS_READ)
async def list_custom_fields(ctx: Context, filters: CustomFieldQuery) -> Page[CustomField]:
    """Lists custom fields, oldest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, CUSTOM_FIELD, filters)


@requires(Scope.CUSTOM_FIELDS_READ)
async def get_custom_field(ctx: Context, id: UUID) -> CustomField:
    """Returns a custom field."""
    return await read_one(ctx, CustomFieldRow, CUSTOM_FIELD, id=id)


@requires(Scope.CUSTOM_FIELDS_WRITE, gives=get_custom_field, causes=(ChangeKind.CUSTOM_FIELD_CREATED,))
async def create_custom_field(ctx: Context, data: CustomFieldCreate) -> CustomField:
    """Creates a custom field, which can then be attached to shares."""
    workspace_id = await workspace_for(ctx, data.workspace_id)
    values = data.model_dump(exclude={"workspace_id"})
    values["properties"] = _non_null(data.type, values["properties"])
    row = await insert_row(ctx.connection, CustomFieldRow, workspace_id=workspace_id, **values)
    return shaped(ctx.services, CUSTOM_FIELD, row)


@requires(Scope.CUSTOM_FIELDS_WRITE, gives=get_custom_field, causes=(ChangeKind.CUSTOM_FIELD_UPDATED,))
async def update_custom_field(ctx: Context, id: UUID, data: CustomFieldUpdate) -> CustomField:
    """Updates the fields that were sent. The type cannot change."""
    row = await get_for_update(ctx, CustomFieldRow, id=id)
    changes = data.changes()
    if "properties" in changes:
        changes["properties"] = _non_null(CustomFieldType(row.type), changes["properties"])
    changed = await update_row(ctx.connection, CustomFieldRow, row, **changes)
    return shaped(ctx.services, CUSTOM_FIELD, changed)


@requires(
    Scope.CUSTOM_FIELDS_WRITE,
    removes=get_custom_field,
    causes=(ChangeKind.CUSTOM_FIELD_DELETED, ChangeKind.SHARE_UPDATED),
)
async def delete_custom_field(ctx: Context, id: UUID) -> UUID:
    """Deletes a custom field permanently and detaches it from all shares."""
    row = await get_for_update(ctx, CustomFieldRow, id=id)
    attached = select(_attachments.c.share_id).where(
        _attachments.c.workspace_id == row.workspace_id, _attachments.c.custom_field_id == id
    )
    await update_rows(
        ctx.connection,
        ShareRow,
        and_(_shares.c.workspace_id == row.workspace_id, _shares.c.id.in_(attached)),
    )
    await delete_row(ctx.connection, CustomFieldRow, row)
    return id


def _non_null(type: CustomFieldType, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that are not null. Raises `Invalid` if a `select` has no options or another type has."""
    non_null = {name: value for name, value in properties.items() if value is not None}
    loc = ("data", "properties", "options")
    if type is CustomFieldType.SELECT and "options" not in non_null:
        raise Invalid([problem(loc, "A `select` field needs options", "missing")])
    if type is not CustomFieldType.SELECT and "options" in non_null:
        raise Invalid([problem(loc, f"A `{type}` field has no options; only `select` does", "no_options")])
    return non_null
