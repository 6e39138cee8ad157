"""The email of an invitation to a workspace."""

from functools import partial
from math import ceil

from sqlalchemy import func, select

from resolvers.mails.brands import brand_of
from resolvers.mails.mails import make_mail
from resolvers.mails.unsolicited_mails import send_unsolicited_mail
from resolvers.operations.context import Context
from schema.errors import RateLimited
from schema.values.prose import write_moment
from storage.emails import fold_email
from storage.rows.rows import table_of
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

# The page where signed-in users find the invitations to their email.
PAGE_PATH = "/account/invitations"

_workspaces, _users = table_of(WorkspaceRow), table_of(UserRow)
_invited = _users.alias()


async def mail_invitation(ctx: Context, member: WorkspaceMemberRow) -> None:
    """Send the email of a new or renewed invitation, within the change that creates it.

    It is in the language that the invited user chose, else in that of the workspace.

    Invitations to a test workspace are not mailed.

    Raises `NotPermitted` or `RateLimited` if it may not be sent, which undoes the change.
    """
    if member.expires_at is None:
        raise TypeError("An invitation always has an end.")
    statement = (
        select(
            _workspaces.c.name,
            _workspaces.c.avatar_url,
            _workspaces.c.is_test,
            func.coalesce(_invited.c.language, _workspaces.c.language).label("language"),
            _users.c.name.label("inviter"),
            _users.c.email.label("inviter_email"),
        )
        .join_from(_workspaces, _users, _users.c.id == member.invited_by_user_id, isouter=True)
        .join(_invited, _invited.c.email_folded == fold_email(member.email), isouter=True)
        .where(_workspaces.c.id == member.workspace_id)
    )
    workspace = (await ctx.connection.execute(statement)).one()
    own = ctx.services.auth_url
    mail = make_mail(
        member.email,
        "invitation",
        language=workspace.language,
        brand=brand_of(member.workspace_id, workspace.name, workspace.avatar_url, own),
        workspace=workspace.name,
        inviter=workspace.inviter,
        inviter_address=workspace.inviter_email,
        address=member.email,
        ends=partial(write_moment, member.expires_at),
        page=f"{own}{PAGE_PATH}",
    )
    # A test workspace mails its members only: who is invited finds the invitation on that page.
    if not workspace.is_test:
        await send_unsolicited_mail(ctx, mail, member.workspace_id)
    wait = await ctx.services.mail_budget.charge_invitation(member.workspace_id)
    if wait:
        raise RateLimited(
            "This workspace has sent as many invitations as it may in 24 hours. "
            f"Try again in {ceil(wait / 3600)} hours.",
            {"Retry-After": str(wait)},
        )
