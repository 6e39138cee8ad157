"""Operations on the invitations to a user's confirmed email."""

from uuid import UUID

from sqlalchemy import ColumnElement, select

from oauth.principals import Principal
from oauth.scopes import Scope
from resolvers.accounts.users import learn_language, lock_user
from resolvers.credentials.access_tokens import USER_KINDS
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.access import invitations_to
from resolvers.operations.rows.filters import changed_in
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.plans import MOMENT
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.workspaces.members import get_workspace_member
from resolvers.workspaces.memberships import join
from resolvers.workspaces.shapes import INVITATION
from schema.errors import Invalid, NotFound, problem
from schema.kit.pages import Page
from schema.kit.sorting import ResourceSorting
from schema.workspaces.members import WorkspaceInvitation, WorkspaceInvitationQuery, WorkspaceMember
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.rows.rows import delete_row, first, table_of
from storage.tables.workspaces.workspaces import WorkspaceMemberRow

_table = table_of(WorkspaceMemberRow)


def _open(principal: Principal) -> ColumnElement[bool]:
    return invitations_to(principal, MOMENT)


LISTING = Listing(
    WorkspaceMemberRow,
    ResourceSorting,
    default="created_at",
    columns={"modified_at": _table.c.changed_at},
    query=WorkspaceInvitationQuery,
    filters=changed_in(_table.c.changed_at),
    seen=_open,
)


@requires(Scope.WORKSPACES_READ, kinds=USER_KINDS)
async def list_workspace_invitations(
    ctx: Context, filters: WorkspaceInvitationQuery
) -> Page[WorkspaceInvitation]:
    """Lists the invitations to the user's confirmed email, oldest first unless sorted otherwise."""
    return await read_page(ctx, LISTING, INVITATION, filters)


@requires(Scope.WORKSPACES_READ, kinds=USER_KINDS)
async def get_workspace_invitation(ctx: Context, id: UUID) -> WorkspaceInvitation:
    """Returns an invitation to the user's confirmed email."""
    try:
        return await read_one(ctx, WorkspaceMemberRow, INVITATION, seen=_open, id=id)
    except NotFound:
        raise _absent() from None


@requires(
    Scope.WORKSPACE_MEMBERS_WRITE,
    kinds=USER_KINDS,
    gives=get_workspace_member,
    causes=(ChangeKind.WORKSPACE_MEMBER_JOINED,),
)
async def accept_workspace_invitation(ctx: Context, id: UUID) -> WorkspaceMember:
    """Accepts an invitation: the user becomes a member of the workspace with its role."""
    # The lock keeps the user's email, and so the right to accept, until the change is done.
    user = await lock_user(ctx.connection, _user_id(ctx))
    invitation = await _lock(ctx, id)
    same = (_table.c.workspace_id == invitation.workspace_id) & (_table.c.user_id == user.id)
    if (await ctx.connection.execute(select(_table.c.id).where(same))).first() is not None:
        message = "You are already a member of this workspace"
        raise Invalid([problem(("id",), message, "duplicate", input=str(id))])
    await join(ctx.connection, invitation, user)
    await learn_language(ctx.connection, user)

    async def note() -> None:
        ctx.note_joining(invitation.workspace_id)

    ctx.afterwards.append(note)
    return await get_workspace_member(ctx, id)


@requires(Scope.WORKSPACE_MEMBERS_WRITE, kinds=USER_KINDS, causes=(ChangeKind.WORKSPACE_MEMBER_REMOVED,))
async def decline_workspace_invitation(ctx: Context, id: UUID) -> UUID:
    """Declines an invitation, which ends it."""
    await delete_row(ctx.connection, WorkspaceMemberRow, await _lock(ctx, id))
    return id


def _user_id(ctx: Context) -> UUID:
    if ctx.principal.user_id is None:
        raise TypeError("A personal token and a browser session always have a user.")
    return ctx.principal.user_id


async def _lock(ctx: Context, id: UUID) -> WorkspaceMemberRow:
    """Lock the invitation, so that no other request accepts or ends it meanwhile. Raises `NotFound`."""
    own = invitations_to(ctx.principal, now())
    invitation = await first(ctx.connection, WorkspaceMemberRow, own, _table.c.id == id, lock=True)
    if invitation is None:
        raise _absent()
    return invitation


def _absent() -> NotFound:
    return NotFound("There is no such invitation. It may have expired or been withdrawn.")
