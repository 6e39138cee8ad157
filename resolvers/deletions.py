"""The list of deletions."""

from oauth.scopes import Scope, covers, that_would_do
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.filters import any_of, at_or_after, before
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces
from resolvers.operations.rows.reading import read_page
from resolvers.operations.shapes.shapes import Shape
from schema.errors import InsufficientScope, Invalid, problem
from schema.kit.pages import Page
from schema.values.scalars import write_moment
from schema.workspaces.deletions import Deletion, DeletionQuery, DeletionSorting
from storage.clock import now
from storage.enums import DeletedResource
from storage.retention.rules import DELETIONS_KEPT_FOR
from storage.rows.rows import table_of
from storage.tables.workspaces.deletions import DeletionRow

# The scope that reads the resource itself.
_SCOPES = {
    DeletedResource.CUSTOMER: Scope.CUSTOMERS_READ,
    DeletedResource.MEMBER: Scope.MEMBERS_READ,
    DeletedResource.CUSTOM_FIELD: Scope.CUSTOM_FIELDS_READ,
    DeletedResource.FILE: Scope.FILES_READ,
    DeletedResource.WORKSPACE_MEMBER: Scope.WORKSPACES_READ,
}
_table = table_of(DeletionRow)
DELETION = Shape(Deletion, _table, {"resource_id": _table.c.id, "deleted_at": _table.c.created_at})
LISTING = Listing(
    DeletionRow,
    DeletionSorting,
    default="deleted_at",
    columns={"deleted_at": _table.c.created_at},
    query=DeletionQuery,
    filters={
        **{name: any_of(_table.c[name]) for name in ("workspace_id", "resource")},
        "deleted_since": at_or_after(_table.c.created_at),
        "deleted_before": before(_table.c.created_at),
    },
)


@requires(None, any_of=tuple(_SCOPES.values()))
async def list_deletions(ctx: Context, filters: DeletionQuery) -> Page[Deletion]:
    """Lists the resources that were deleted in the last 90 days, in the order of their deletion.

    Without `resource`, the list has the kinds that the credential's scopes can read; to name a kind needs the
    scope that reads it. A `deleted_since` of more than 90 days ago is refused.
    """
    since = filters.deleted_since
    if since is not None and since < now() - DELETIONS_KEPT_FOR:
        message = f"Deletions are kept for {DELETIONS_KEPT_FOR.days} days: read the lists again"
        raise Invalid([problem(("filters", "deleted_since"), message, "not_kept", input=write_moment(since))])
    await check_workspaces(ctx, filters.workspace_id)
    scopes = ctx.principal.scopes
    readable = [resource for resource, scope in _SCOPES.items() if covers(scopes, scope)]
    asked = readable if filters.resource is None else filters.resource
    missing = [_SCOPES[resource] for resource in asked if resource not in readable]
    if missing:
        raise InsufficientScope(that_would_do(missing[0]))
    # New arguments: those that were sent are shared with callers that have other scopes.
    return await read_page(ctx, LISTING, DELETION, DeletionQuery(**{**dict(filters), "resource": asked}))
