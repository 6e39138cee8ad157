"""What can be done with workspaces."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, or_, select

from oauth.principals import PrincipalKind
from oauth.scopes import Scope
from resolvers.accounts.users import lock_user
from resolvers.operations.access import get_for_update, get_visible, visible
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.lists import Listing, any_of, contains, each, list_page
from resolvers.workspaces.administration import insert_workspace
from schema.errors import Invalid, NotFound, NotPermitted, problem
from schema.pages import Page
from schema.scalars import Id
from schema.workspaces import (
    Workspace,
    WorkspaceCreate,
    WorkspaceQuery,
    WorkspaceSorting,
    WorkspaceUpdate,
)
from storage.clock import now
from storage.enums import WorkspaceRole
from storage.rows import every, first, table_of, update_row, values_of
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

# Each workspace has a budget of its own.
MOST_WORKSPACES = 100
MOST_UNCONFIRMED = 3
_table, _members = table_of(WorkspaceRow), table_of(WorkspaceMemberRow)
LISTING = Listing(
    WorkspaceRow,
    WorkspaceSorting,
    default="created_at",
    columns={"name": _table.c.name_folded, "days_in_status": _table.c.status_changed_at},
    inverted=frozenset({"days_in_status"}),
)


@requires(Scope.WORKSPACES_READ)
async def list_workspaces(ctx: Context, filters: WorkspaceQuery) -> Page[Workspace]:
    """The workspaces that the credential reaches, page by page, oldest first unless sorted otherwise."""
    conditions = [
        *any_of(_table.c.slug, None if filters.slug is None else [filters.slug.lower()]),
        *contains(_table.c.name_folded, filters.name),
    ]
    return await list_page(ctx, LISTING, filters, conditions, each(Workspace.model_validate))


@requires(Scope.WORKSPACES_READ)
async def get_workspace(ctx: Context, id: Id | None = None, slug: str | None = None) -> Workspace:
    """One workspace, named by its id or by its slug."""
    if (id is None) == (slug is None):
        raise Invalid([problem(("id",), "Name the workspace by `id` or by `slug`, one of them", "one_of")])
    named = {"slug": slug.lower()} if slug is not None else {"id": id}
    return Workspace.model_validate(values_of(await get_visible(ctx, WorkspaceRow, **named)))


@requires(Scope.WORKSPACES_READ)
async def get_created_workspace(ctx: Context, id: UUID) -> Workspace:
    """One workspace, as its founder's credential may see it: that of a workspace reaches only its own."""
    founded = select(_members.c.workspace_id).where(_members.c.user_id == ctx.principal.maker_user_id)
    seen = or_(visible(WorkspaceRow, ctx.principal), _table.c.id.in_(founded))
    async with ctx.read() as connection:
        workspace = await first(connection, WorkspaceRow, _table.c.id == id, seen)
    if workspace is None:
        raise NotFound("There is no such workspace.")
    return Workspace.model_validate(values_of(workspace))


@requires(Scope.WORKSPACES_WRITE, gives=get_created_workspace)
async def create_workspace(ctx: Context, data: WorkspaceCreate) -> Workspace:
    """Make a workspace; the credential's user becomes its first member and owner.

    A workspace access token can make one too, while the user who made the token belongs to the token's
    workspace: that user becomes the owner, and the token goes on reaching only its own workspace.
    """
    founder_id = await _founder_id(ctx)
    if data.slug in ctx.services.reserved_slugs:
        message = "This slug is reserved: it begins an address of the service"
        raise Invalid([problem(("data", "slug"), message, "reserved", input=data.slug)])
    founder = await lock_user(ctx.connection, founder_id)
    await _check_room(ctx, founder)
    sent = data.model_dump(exclude_unset=True)
    values = {name: value for name, value in sent.items() if value is not None}
    submission = _submission(None, values.get("details"))
    workspace = await insert_workspace(ctx.connection, founder, **values, **submission)
    return Workspace.model_validate(values_of(workspace))


@requires(Scope.WORKSPACES_WRITE, gives=get_workspace)
async def update_workspace(ctx: Context, id: UUID, data: WorkspaceUpdate) -> Workspace:
    """Change the fields that were sent. Settings and `details` are merged at every depth."""
    row = await get_for_update(ctx, WorkspaceRow, id=id)
    stored, sent = values_of(row), data.changes()
    changes = {
        name: merged(stored[name], value) if isinstance(value, dict) else value
        for name, value in sent.items()
    }
    changes |= _submission(row.details_submitted_at, sent.get("details"))
    workspace = await update_row(ctx.connection, WorkspaceRow, row, **changes)
    return Workspace.model_validate(values_of(workspace))


async def load_workspaces(ctx: Context, ids: Sequence[UUID]) -> list[Workspace | None]:
    """The visible workspaces of these ids, in their order."""
    seen = visible(WorkspaceRow, ctx.principal)
    async with ctx.read() as connection:
        rows = await every(connection, WorkspaceRow, seen, _table.c.id.in_(ids))
    workspaces = {row.id: values_of(row) for row in rows}
    return [Workspace.model_validate(workspaces[id]) if id in workspaces else None for id in ids]


def merged(stored: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """`stored` with what was sent, objects within objects merged too; anything else is replaced."""
    result = dict(stored)
    for name, value in sent.items():
        before = stored.get(name)
        result[name] = merged(before or {}, value) if isinstance(value, dict) else value
    return result


async def _check_room(ctx: Context, founder: UserRow) -> None:
    """Raises `NotPermitted` for a user who owns as many workspaces as one user may create."""
    owned = (_members.c.user_id == founder.id) & (_members.c.role == WorkspaceRole.OWNER.value)
    counted = select(func.count()).where(owned)
    count = (await ctx.connection.execute(counted)).scalar_one()
    if count >= MOST_WORKSPACES:
        raise NotPermitted(
            f"You own {count} workspaces, and the limit for creating more is {MOST_WORKSPACES}: "
            "hand one over to another owner and leave it first."
        )
    if founder.email_verified_at is None and count >= MOST_UNCONFIRMED:
        raise NotPermitted(
            f"Without a confirmed email address you can own {MOST_UNCONFIRMED} workspaces: "
            "confirm yours first."
        )


def _submission(before: Any, details: Mapping[str, Any] | None) -> dict[str, Any]:
    """`details_submitted_at`, the first time that details say anything."""
    says = any(value is not None for value in (details or {}).values())
    return {"details_submitted_at": now()} if says and before is None else {}


async def _founder_id(ctx: Context) -> UUID:
    principal = ctx.principal
    if principal.kind is PrincipalKind.WORKSPACE_TOKEN:
        if principal.maker_user_id is None:
            raise NotPermitted("It is not known who created this token: use a personal access token.")
        await _check_belongs(ctx, principal.maker_user_id)
        return principal.maker_user_id
    if principal.user_id is None:
        raise NotPermitted("This OAuth token is for one workspace only, and cannot make another.")
    return principal.user_id


async def _check_belongs(ctx: Context, user_id: UUID) -> None:
    """Raises `NotPermitted` for a user who has left the workspace of the token."""
    membership = select(_members.c.id).where(
        _members.c.workspace_id == ctx.principal.workspace_id, _members.c.user_id == user_id
    )
    if (await ctx.connection.execute(membership)).first() is None:
        raise NotPermitted(
            "The user who created this token has left the workspace: use a personal access token."
        )
