"""Operations on the members of workspaces and on invitations to them."""

from dataclasses import replace
from uuid import UUID

from sqlalchemy import func, select

from oauth.revocation.grants import end_creations, end_membership
from oauth.scopes import Scope
from resolvers.accounts.creators import creator_of
from resolvers.credentials.access_tokens import USER_KINDS
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.filters import any_of, changed_in
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import (
    check_owner,
    check_workspaces,
    get_for_update,
    get_visible,
    workspace_for,
)
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.workspaces.invitation_mails import mail_invitation
from resolvers.workspaces.memberships import AlreadyMember, invite, lock_members, withdraw_invitations
from resolvers.workspaces.shapes import WORKSPACE_MEMBER
from schema.errors import Invalid, problem
from schema.kit.pages import Page
from schema.kit.sorting import ResourceSorting
from schema.workspaces.members import (
    RevokeCreated,
    WorkspaceMember,
    WorkspaceMemberInvite,
    WorkspaceMemberQuery,
    WorkspaceMemberUpdate,
)
from storage.changes.kinds import ChangeKind
from storage.enums import WorkspaceRole
from storage.rows.rows import delete_row, table_of, update_row
from storage.tables.workspaces.workspaces import WorkspaceMemberRow

_table = table_of(WorkspaceMemberRow)
LISTING = Listing(
    WorkspaceMemberRow,
    ResourceSorting,
    default="created_at",
    columns={"modified_at": _table.c.changed_at},
    query=WorkspaceMemberQuery,
    filters={
        **{name: any_of(_table.c[name]) for name in ("workspace_id", "user_id")},
        **changed_in(_table.c.changed_at),
    },
)


@requires(Scope.WORKSPACES_READ)
async def list_workspace_members(ctx: Context, filters: WorkspaceMemberQuery) -> Page[WorkspaceMember]:
    """Lists members of workspaces and invitations, oldest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, WORKSPACE_MEMBER, filters)


@requires(Scope.WORKSPACES_READ)
async def get_workspace_member(ctx: Context, id: UUID) -> WorkspaceMember:
    """Returns a member of a workspace or an invitation."""
    return await read_one(ctx, WorkspaceMemberRow, WORKSPACE_MEMBER, id=id)


@requires(
    Scope.WORKSPACE_MEMBERS_WRITE,
    kinds=USER_KINDS,
    owners_only=True,
    gives=get_workspace_member,
    fresh=True,
    causes=(ChangeKind.WORKSPACE_MEMBER_INVITED,),
)
async def invite_workspace_member(ctx: Context, data: WorkspaceMemberInvite) -> WorkspaceMember:
    """Invites an email to a workspace, and sends it the invitation.

    Its user has 7 days to accept, and sees nothing of the workspace before that. Inviting the email again
    renews the invitation.
    """
    workspace_id = await workspace_for(replace(ctx, owners_only=False), data.workspace_id)
    # Locked before the caller's membership, as in a removal: a fixed order cannot deadlock.
    await lock_members(ctx.connection, workspace_id)
    await check_owner(ctx, workspace_id)
    # Restricted, because the recipient has not asked for the email.
    await ctx.caller.budget.charge(ctx.principal.subject, 1, None, restricted=True)
    try:
        row = await invite(ctx.connection, workspace_id, data.email, data.role, creator_of(ctx.principal))
    except AlreadyMember:
        message = "The user with this email is already a member"
        raise Invalid([problem(("data", "email"), message, "duplicate", input=data.email)]) from None
    await mail_invitation(ctx, row)
    return await get_workspace_member(ctx, row.id)


@requires(
    Scope.WORKSPACE_MEMBERS_WRITE,
    kinds=USER_KINDS,
    owners_only=True,
    gives=get_workspace_member,
    fresh=True,
    causes=(ChangeKind.WORKSPACE_MEMBER_ROLE_CHANGED,),
)
async def update_workspace_member(ctx: Context, id: UUID, data: WorkspaceMemberUpdate) -> WorkspaceMember:
    """Updates the role of a member or an invitation. The last owner of a workspace has to stay owner."""
    row = await _lock(ctx, id)
    await update_row(ctx.connection, WorkspaceMemberRow, row, **data.changes())
    await _check_owned(ctx, row)
    return await get_workspace_member(ctx, id)


@requires(
    Scope.WORKSPACE_MEMBERS_WRITE,
    kinds=USER_KINDS,
    owners_only=True,
    removes=get_workspace_member,
    causes=(ChangeKind.WORKSPACE_MEMBER_REMOVED, ChangeKind.WORKSPACE_ACCESS_TOKEN_REVOKED),
)
async def remove_workspace_member(ctx: Context, id: UUID, revoke_created: RevokeCreated = True) -> UUID:
    """Removes a member or withdraws an invitation. Members can remove themselves, but not the last owner.

    The OAuth tokens that the user granted for this workspace end at once. So does everything that the user
    created in it: workspace access tokens, the secrets, grants and tokens of OAuth clients, and open
    invitations, unless an owner sends `revoke_created` as false.
    """
    row = await get_visible(ctx, WorkspaceMemberRow, id=id)
    leaves = row.user_id is not None and row.user_id == ctx.principal.user_id
    # Members can leave by themselves, but only an owner can keep what they created.
    row = await _lock(replace(ctx, owners_only=not (leaves and revoke_created)), id)
    await delete_row(ctx.connection, WorkspaceMemberRow, row)
    if row.user_id is not None:
        await _check_owned(ctx, row)
        await end_membership(ctx.connection, row.user_id, row.workspace_id)
        if revoke_created:
            await end_creations(ctx.connection, row.user_id, row.workspace_id)
            await withdraw_invitations(ctx.connection, row.user_id, row.workspace_id)
        if leaves:
            ctx.note_leaving(row.workspace_id)
    return id


async def _lock(ctx: Context, id: UUID) -> WorkspaceMemberRow:
    """Lock the row, and keep other changes of the workspace's members out."""
    row = await get_visible(ctx, WorkspaceMemberRow, id=id)
    await lock_members(ctx.connection, row.workspace_id)
    return await get_for_update(ctx, WorkspaceMemberRow, id=id)


async def _check_owned(ctx: Context, row: WorkspaceMemberRow) -> None:
    """Raises `Invalid` if the change of `row` has left its workspace without an owner."""
    owners = select(func.count()).where(
        _table.c.workspace_id == row.workspace_id,
        _table.c.user_id.is_not(None),
        _table.c.role == WorkspaceRole.OWNER.value,
    )
    if not (await ctx.connection.execute(owners)).scalar_one():
        message = "This is the last owner of the workspace: make another member an owner first"
        raise Invalid([problem(("id",), message, "last_owner", input=str(row.id))])
