"""Operations on workspaces."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from sqlalchemy import func, or_, select

from oauth.principals import PrincipalKind
from oauth.scopes import Scope
from resolvers.accounts.users import lock_user
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.access import visible
from resolvers.operations.rows.filters import any_of, changed_in
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import get_for_update
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.rows.searching import contains
from resolvers.operations.shapes.shaped import shaped
from resolvers.workspaces.administration import insert_workspace
from resolvers.workspaces.shapes import WORKSPACE, WORKSPACE_ITEM
from schema.errors import Invalid, NotFound, NotPermitted, problem
from schema.kit.pages import Page
from schema.values.scalars import Id
from schema.workspaces.workspaces import (
    Workspace,
    WorkspaceCreate,
    WorkspaceQuery,
    WorkspaceSorting,
    WorkspaceUpdate,
)
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.enums import WorkspaceRole
from storage.rows.rows import first, table_of, update_row, values_of
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

# Each workspace has its own rate limits, so their number is limited.
MOST_WORKSPACES = 100
MOST_UNCONFIRMED = 3
_table, _members = table_of(WorkspaceRow), table_of(WorkspaceMemberRow)
LISTING = Listing(
    WorkspaceRow,
    WorkspaceSorting,
    default="created_at",
    columns={
        "modified_at": _table.c.changed_at,
        "name": _table.c.name_folded,
        "days_in_status": _table.c.status_changed_at,
    },
    inverted=frozenset({"days_in_status"}),
    query=WorkspaceQuery,
    filters={
        **changed_in(_table.c.changed_at),
        "slug": any_of(_table.c.slug, str.lower),
        "name": contains(_table.c.name_folded),
    },
)


@requires(Scope.WORKSPACES_READ)
async def list_workspaces(ctx: Context, filters: WorkspaceQuery) -> Page[Workspace]:
    """Lists the workspaces that the credential can access, oldest first unless sorted otherwise."""
    # GraphQL selects fields; REST's items have fewer.
    shape = WORKSPACE_ITEM if ctx.selection is None else WORKSPACE
    return cast("Page[Workspace]", await read_page(ctx, LISTING, shape, filters))


@requires(Scope.WORKSPACES_READ)
async def get_workspace(ctx: Context, id: Id | None = None, slug: str | None = None) -> Workspace:
    """Returns a workspace, by its id or by its slug."""
    if (id is None) == (slug is None):
        raise Invalid([problem(("id",), "Name the workspace by either `id` or `slug`", "one_of")])
    named = {"slug": slug.lower()} if slug is not None else {"id": id}
    return await read_one(ctx, WorkspaceRow, WORKSPACE, **named)


@requires(Scope.WORKSPACES_READ)
async def get_created_workspace(ctx: Context, id: UUID) -> Workspace:
    """The workspace as its creator sees it, also with a token that can access only another workspace."""
    created = select(_members.c.workspace_id).where(_members.c.user_id == ctx.principal.maker_user_id)
    seen = or_(visible(WorkspaceRow, ctx.principal), _table.c.id.in_(created))
    async with ctx.read() as connection:
        workspace = await first(connection, WorkspaceRow, _table.c.id == id, seen)
    if workspace is None:
        raise NotFound("There is no such workspace.")
    return shaped(ctx.services, WORKSPACE, workspace)


@requires(Scope.WORKSPACES_WRITE, gives=get_created_workspace, causes=(ChangeKind.WORKSPACE_MEMBER_JOINED,))
async def create_workspace(ctx: Context, data: WorkspaceCreate) -> Workspace:
    """Creates a workspace. The credential's user becomes its first member and owner.

    A workspace access token can create one too, while the user who created the token is a member of the
    token's workspace. That user becomes the owner; the token still accesses only its own workspace.
    """
    sent = data.model_dump(exclude_unset=True)
    values = {name: value for name, value in sent.items() if value is not None}
    submission = _submission(None, values.get("details"))
    return shaped(ctx.services, WORKSPACE, await found_workspace(ctx, **values, **submission))


async def found_workspace(ctx: Context, slug: str, **values: Any) -> WorkspaceRow:
    """Insert a workspace whose first owner is the user who calls, or who created the token.

    Raises `Invalid` for a reserved slug, and `NotPermitted` if there is no such user or it owns too many.
    """
    founder_id = await _founder_id(ctx)
    if slug in ctx.services.reserved_slugs:
        message = "This slug is reserved for the service's own pages"
        raise Invalid([problem(("data", "slug"), message, "reserved", input=slug)])
    founder = await lock_user(ctx.connection, founder_id)
    await _check_room(ctx, founder)
    workspace = await insert_workspace(ctx.connection, founder, slug=slug, **values)
    ctx.note_joining(workspace.id)
    return workspace


@requires(Scope.WORKSPACES_WRITE, gives=get_workspace, causes=(ChangeKind.WORKSPACE_UPDATED,))
async def update_workspace(ctx: Context, id: UUID, data: WorkspaceUpdate) -> Workspace:
    """Updates the fields that were sent. Settings and `details` are merged at every depth."""
    row = await get_for_update(ctx, WorkspaceRow, id=id)
    stored, sent = values_of(row), data.changes()
    changes = {
        name: _changed_settings(name, stored[name], value) if isinstance(value, dict) else value
        for name, value in sent.items()
    }
    changes |= _submission(row.details_submitted_at, sent.get("details"))
    workspace = await update_row(ctx.connection, WorkspaceRow, row, **changes)
    return shaped(ctx.services, WORKSPACE, workspace)


def merged(stored: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """`stored` with the values sent: objects are merged at every depth, other values replaced."""
    result = dict(stored)
    for name, value in sent.items():
        before = stored.get(name)
        result[name] = merged(before or {}, value) if isinstance(value, dict) else value
    return result


def _changed_settings(name: str, stored: Mapping[str, Any], sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """The stored settings with those sent; just those stored if their defaults make them the same."""
    result = merged(stored, sent)
    field = Workspace.model_fields.get(name)  # No answer has `details`.
    settings: Any = None if field is None else field.annotation
    if settings is not None and settings.model_validate(result) == settings.model_validate(stored):
        return stored
    return result


async def _check_room(ctx: Context, founder: UserRow) -> None:
    """Raises `NotPermitted` for a user who owns the most workspaces allowed."""
    owned = (_members.c.user_id == founder.id) & (_members.c.role == WorkspaceRole.OWNER.value)
    counted = select(func.count()).where(owned)
    count = (await ctx.connection.execute(counted)).scalar_one()
    if count >= MOST_WORKSPACES:
        raise NotPermitted(
            f"You own {count} workspaces, and {MOST_WORKSPACES} is the limit for creating another: "
            "hand one over to another owner and leave it first."
        )
    if founder.email_verified_at is None and count >= MOST_UNCONFIRMED:
        raise NotPermitted(
            f"Without a confirmed email you can own {MOST_UNCONFIRMED} workspaces: confirm yours first."
        )


def _submission(before: Any, details: Mapping[str, Any] | None) -> dict[str, Any]:
    """`details_submitted_at`, set the first time that any of the details has a value."""
    has_value = any(value is not None for value in (details or {}).values())
    return {"details_submitted_at": now()} if has_value and before is None else {}


async def _founder_id(ctx: Context) -> UUID:
    principal = ctx.principal
    if principal.kind is PrincipalKind.WORKSPACE_TOKEN:
        if principal.maker_user_id is None:
            raise NotPermitted("This token has no known creator: use a personal access token.")
        await _check_belongs(ctx, principal.maker_user_id)
        return principal.maker_user_id
    if principal.user_id is None:
        raise NotPermitted("This OAuth token is for one workspace only, and cannot create another.")
    return principal.user_id


async def _check_belongs(ctx: Context, user_id: UUID) -> None:
    """Raises `NotPermitted` if the user has left the token's workspace."""
    membership = select(_members.c.id).where(
        _members.c.workspace_id == ctx.principal.workspace_id, _members.c.user_id == user_id
    )
    if (await ctx.connection.execute(membership)).first() is None:
        raise NotPermitted(
            "The user who created this token has left the workspace: use a personal access token."
        )
