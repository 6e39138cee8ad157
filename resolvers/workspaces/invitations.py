"""Operations on the invitations to a user's confirmed email."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, delete, select

from oauth.scopes import Scope
from resolvers.accounts.people import find_people
from resolvers.accounts.users import lock_user
from resolvers.credentials.access_tokens import USER_KINDS
from resolvers.operations.access import invitations_to
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.lists import list_rows
from resolvers.workspaces.members import LISTING, assemble, get_workspace_member
from resolvers.workspaces.memberships import join
from schema.errors import Invalid, NotFound, problem
from schema.pages import Page
from schema.workspace_members import WorkspaceInvitation, WorkspaceInvitationQuery, WorkspaceMember
from storage.connections import Connection
from storage.rows import first, table_of
from storage.tables.workspaces import WorkspaceMemberRow, WorkspaceRow

_table, _workspaces = table_of(WorkspaceMemberRow), table_of(WorkspaceRow)


@requires(Scope.WORKSPACES_READ, kinds=USER_KINDS)
async def list_workspace_invitations(
    ctx: Context, filters: WorkspaceInvitationQuery
) -> Page[WorkspaceInvitation]:
    """Lists the invitations to the user's confirmed email, oldest first unless sorted otherwise."""
    return await list_rows(ctx, LISTING, filters, _invitations(ctx), _assemble)


@requires(Scope.WORKSPACES_READ, kinds=USER_KINDS)
async def get_workspace_invitation(ctx: Context, id: UUID) -> WorkspaceInvitation:
    """Returns an invitation to the user's confirmed email."""
    async with ctx.read() as connection:
        row = (await connection.execute(_invitations(ctx).where(_table.c.id == id))).first()
        if row is None:
            raise _absent()
        (invitation,) = await _assemble(connection, [row])
    return invitation


@requires(Scope.WORKSPACE_MEMBERS_WRITE, kinds=USER_KINDS, gives=get_workspace_member)
async def accept_workspace_invitation(ctx: Context, id: UUID) -> WorkspaceMember:
    """Accepts an invitation: the user becomes a member of the workspace with its role."""
    # The lock keeps the user's email, and so the right to accept, until the change is done.
    user = await lock_user(ctx.connection, _user_id(ctx))
    invitation = await _lock(ctx, id)
    same = (_table.c.workspace_id == invitation.workspace_id) & (_table.c.user_id == user.id)
    if (await ctx.connection.execute(select(_table.c.id).where(same))).first() is not None:
        message = "You are already a member of this workspace"
        raise Invalid([problem(("id",), message, "duplicate", input=str(id))])
    (member,) = await assemble(ctx.connection, [await join(ctx.connection, invitation, user)])
    return member


@requires(Scope.WORKSPACE_MEMBERS_WRITE, kinds=USER_KINDS)
async def decline_workspace_invitation(ctx: Context, id: UUID) -> UUID:
    """Declines an invitation, which ends it."""
    await _lock(ctx, id)
    await ctx.connection.execute(delete(_table).where(_table.c.id == id))
    return id


def _user_id(ctx: Context) -> UUID:
    if ctx.principal.user_id is None:
        raise TypeError("A personal token and a browser session always have a user.")
    return ctx.principal.user_id


def _invitations(ctx: Context) -> Select[Any]:
    named = (_workspaces.c.name.label("workspace_name"), _workspaces.c.slug.label("workspace_slug"))
    joined = select(_table, *named).join_from(_table, _workspaces, _table.c.workspace_id == _workspaces.c.id)
    return joined.where(invitations_to(ctx.principal))


async def _assemble(connection: Connection, rows: Sequence[Row[Any]]) -> list[WorkspaceInvitation]:
    people = await find_people(connection, (row.invited_by_user_id for row in rows))
    return [
        WorkspaceInvitation.model_validate(row._asdict() | {"invited_by": people.get(row.invited_by_user_id)})
        for row in rows
    ]


async def _lock(ctx: Context, id: UUID) -> WorkspaceMemberRow:
    """Lock the invitation, so that no other request accepts or ends it meanwhile. Raises `NotFound`."""
    own = invitations_to(ctx.principal)
    invitation = await first(ctx.connection, WorkspaceMemberRow, own, _table.c.id == id, lock=True)
    if invitation is None:
        raise _absent()
    return invitation


def _absent() -> NotFound:
    return NotFound("There is no such invitation. It may have expired or been withdrawn.")
