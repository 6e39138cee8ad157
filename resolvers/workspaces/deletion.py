"""The deletion of a workspace: it ends in one short transaction, and what it had is removed afterwards."""

from uuid import UUID

from sqlalchemy import delete, select

from oauth.scopes import Scope
from resolvers.credentials.access_tokens import USER_KINDS
from resolvers.mails.mails import make_mails, send_mails
from resolvers.mails.members import mailed_members
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lookups import check_owner, get_visible
from resolvers.workspaces.memberships import lock_members
from resolvers.workspaces.workspaces import get_workspace
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.rows.rows import new_row, table_of, update_row, update_rows, values_of
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

_members, _clients, _users = table_of(WorkspaceMemberRow), table_of(OAuthClientRow), table_of(UserRow)


@requires(
    Scope.WORKSPACES_WRITE,
    kinds=USER_KINDS,
    owners_only=True,
    fresh=True,
    removes=get_workspace,
    causes=(ChangeKind.OAUTH_CLIENT_DELETED,),
)
async def delete_workspace(ctx: Context, id: UUID) -> UUID:
    """Deletes a workspace with everything in it: shares, customers, files, sales, events and metrics.

    Its tokens, OAuth clients, portal and customers' sessions end at once; its data is removed in the
    background. It cannot be restored, and its slug cannot be used again. Its owners are notified by email.
    """
    await get_visible(ctx, WorkspaceRow, id=id)
    # Locked before the caller's membership, as in a removal: a fixed order cannot deadlock.
    await lock_members(ctx.connection, id)
    workspace = await get_visible(ctx, WorkspaceRow, id=id)
    await check_owner(ctx, id)
    if ctx.precondition is not None:
        await ctx.precondition()
    of_caller = select(_users.c.email).where(_users.c.id == ctx.principal.user_id)
    await end_workspace(ctx, workspace, by=(await ctx.connection.execute(of_caller)).scalar())
    return id


async def end_workspace(ctx: Context, workspace: WorkspaceRow, *, by: str | None) -> None:
    """End the workspace, whose members are locked, without permission checks; `by` is a user's email.

    From the commit on, no statement that looks for a workspace finds it: users reach it by their membership,
    credentials and the portal by its row.
    """
    owners = await mailed_members(ctx.connection, workspace.id, owners_only=True)
    # Not as emails of the workspace: those are removed with it.
    await send_mails(ctx, make_mails(owners, "workspace_deletion", workspace=workspace.name, address=by))
    moment = now()
    empty = new_row(
        WorkspaceRow,
        id=workspace.id,
        slug=workspace.slug,
        name="",
        created_at=workspace.created_at,
        deleted_at=moment,
        removal_due_at=moment,
    )
    await update_row(ctx.connection, WorkspaceRow, workspace, **values_of(empty))
    await ctx.connection.execute(delete(_members).where(_members.c.workspace_id == workspace.id))
    # Tokens of these clients for other workspaces end too.
    own = (_clients.c.workspace_id == workspace.id) & _clients.c.deleted_at.is_(None)
    await update_rows(ctx.connection, OAuthClientRow, own, deleted_at=moment)
