"""What can be done with the members of a workspace."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.grants import end_membership
from oauth.scopes import Scope
from resolvers.access import Row, check_workspaces, get_for_update, get_visible, workspace_for
from resolvers.accounts import invite_member
from resolvers.context import Context
from resolvers.invitation_mails import mail_invitation
from resolvers.lists import Listing, any_of, list_page
from resolvers.operations import requires
from schema.errors import Invalid, problem
from schema.pages import Page
from schema.workspace_members import (
    WorkspaceMember,
    WorkspaceMemberInvite,
    WorkspaceMemberQuery,
    WorkspaceMemberStatus,
)
from storage.rows import table_of
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

_table, _users = table_of(WorkspaceMemberRow), table_of(UserRow)
LISTING = Listing(WorkspaceMemberRow, {"created_at": _table.c.created_at}, default=("created_at",))


@requires(Scope.WORKSPACES_READ)
async def list_workspace_members(ctx: Context, filters: WorkspaceMemberQuery) -> Page[WorkspaceMember]:
    """Members of workspaces and invitations, page by page, oldest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    conditions = any_of(_table.c.workspace_id, filters.workspace_id)
    return await list_page(ctx, LISTING, filters, conditions, _assemble)


@requires(Scope.WORKSPACES_READ)
async def get_workspace_member(ctx: Context, id: UUID) -> WorkspaceMember:
    """One member of a workspace, or one invitation."""
    row = await get_visible(ctx, WorkspaceMemberRow, id=id)
    async with ctx.read() as connection:
        (member,) = await _assemble(connection, [row])
    return member


@requires(Scope.WORKSPACES_WRITE, gives=get_workspace_member, fresh=True)
async def invite_workspace_member(ctx: Context, data: WorkspaceMemberInvite) -> WorkspaceMember:
    """Invite an address to a workspace, and mail it; a user who has it becomes a member at once."""
    workspace_id = await workspace_for(ctx, data.workspace_id)
    # Whoever is mailed has not asked for it.
    await ctx.caller.budget.charge(ctx.principal.subject, 1, None, restricted=True)
    row = await invite_member(ctx.unit, workspace_id, data.email)
    await mail_invitation(ctx, row)
    (member,) = await _assemble(ctx.unit, [row])
    return member


@requires(Scope.WORKSPACES_WRITE)
async def remove_workspace_member(ctx: Context, id: UUID) -> UUID:
    """Remove a member, or take an invitation back. The last member cannot go.

    OAuth tokens that the user granted for this workspace end at once.
    """
    workspace_id = (await get_visible(ctx, WorkspaceMemberRow, id=id))["workspace_id"]
    # Removals of one workspace's members come one after the other, so that two cannot take the last two.
    await get_for_update(ctx, WorkspaceRow, id=workspace_id)
    row = await get_for_update(ctx, WorkspaceMemberRow, id=id)
    if row["user_id"] is not None:
        await _check_not_last(ctx, row)
        await end_membership(ctx.unit, row["user_id"], workspace_id)
    await ctx.unit.execute(delete(_table).where(_table.c.id == id))
    return id


async def _assemble(connection: AsyncConnection, rows: Sequence[Row]) -> list[WorkspaceMember]:
    wanted = select(_users.c.id, _users.c.name).where(_users.c.id.in_([row["user_id"] for row in rows]))
    names = {row["id"]: row["name"] for row in (await connection.execute(wanted)).mappings()}
    return [
        WorkspaceMember.model_validate(
            {
                **row,
                "name": names.get(row["user_id"]),
                "status": WorkspaceMemberStatus.ACTIVE if row["user_id"] else WorkspaceMemberStatus.INVITED,
            }
        )
        for row in rows
    ]


async def _check_not_last(ctx: Context, row: Row) -> None:
    others = select(func.count()).where(
        _table.c.workspace_id == row["workspace_id"], _table.c.user_id.is_not(None), _table.c.id != row["id"]
    )
    if not (await ctx.unit.execute(others)).scalar_one():
        message = "The last member of a workspace cannot go: invite another one first"
        raise Invalid([problem(("id",), message, "last_member", input=str(row["id"]))])
