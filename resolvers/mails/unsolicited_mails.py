"""Emails to people who did not sign up here: which workspaces and users may send them, and how many."""

from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy import bindparam, exists, select

from resolvers.mails.mails import send_mails
from resolvers.mails.members import mailed_members
from resolvers.operations.context import Context
from schema.errors import NotPermitted, RateLimited
from storage.engine.statements.kept import Kept
from storage.enums import WorkspaceStatus
from storage.queues.mails import NO_RECIPIENT, Mail
from storage.rows.rows import table_of
from storage.tables.accounts.users import UserRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

log = structlog.get_logger("duograph.mail")
_members, _users = table_of(WorkspaceMemberRow), table_of(UserRow)
_workspaces = table_of(WorkspaceRow)
_confirmed = _users.c.email_verified_at.is_not(None)
_of_home = (_members.c.user_id == _users.c.id) & (_members.c.workspace_id == bindparam("home"))
_STANDING = Kept(
    select(
        _workspaces.c.status,
        _workspaces.c.is_test,
        exists(select(_users.c.id).join_from(_users, _members, _of_home).where(_confirmed)),
        exists(select(_users.c.id).where(_users.c.id == bindparam("user_id"), ~_confirmed)),
    ).where(_workspaces.c.id == bindparam("home"))
)


class _Standing(NamedTuple):
    """A workspace, and whether one of its members has a confirmed address, and the acting user has none."""

    status: str
    is_test: bool
    has_confirmed: bool
    is_unconfirmed: bool


async def send_unsolicited_mail(ctx: Context, mail: Mail, workspace_id: UUID) -> None:
    """Send an email on behalf of a workspace, within the change that causes it.

    Raises `NotPermitted` if the caller or the workspace may not send it, `RateLimited` beyond a budget.
    """
    await _check_standing(ctx, mail, workspace_id)
    if mail.to == NO_RECIPIENT:
        wait = 0
    else:
        wait = await ctx.services.mail_budget.charge(mail, workspace_id, _user_of(ctx))
    if wait:
        raise RateLimited(
            "Too many emails to this recipient, or from this workspace or user. "
            f"Try again in {wait} seconds.",
            {"Retry-After": str(wait)},
        )
    await send_mails(ctx, [mail], workspace_id)


async def send_unsolicited_mail_if_allowed(ctx: Context, mail: Mail, workspace_id: UUID) -> None:
    """The same, but if the email is refused, the change continues and the log gives the reason."""
    try:
        await send_unsolicited_mail(ctx, mail, workspace_id)
    except (NotPermitted, RateLimited) as refusal:
        log.info("mail held back", workspace=str(workspace_id), reason=str(refusal))


async def _check_standing(ctx: Context, mail: Mail, workspace_id: UUID) -> None:
    values = {"home": workspace_id, "user_id": _user_of(ctx)}
    standing = _Standing(*(await ctx.connection.rows(_STANDING, values))[0])
    if standing.is_unconfirmed or not standing.has_confirmed:
        raise NotPermitted(
            "Only users with a confirmed email address can send emails to other people. Open the link in "
            "your sign-up email, or request another at /account."
        )
    if standing.is_test:
        # Its members are no strangers: no review has to begin first.
        if mail.to not in {to for to, _ in await mailed_members(ctx.connection, workspace_id)}:
            raise NotPermitted("This is a test workspace. It sends emails to its own members only.")
        return
    if standing.status == WorkspaceStatus.DENIED:
        raise NotPermitted(
            "This workspace was denied in its review, so it cannot send emails to other people."
        )
    if standing.status == WorkspaceStatus.CREATED and not ctx.services.mails_for_new_workspaces:
        raise NotPermitted(
            "This workspace is new. It cannot send emails to other people until its review has begun."
        )


def _user_of(ctx: Context) -> UUID | None:
    """The acting user, or the creator of the workspace's token; None without one."""
    principal = ctx.caller.principal
    return None if principal is None else principal.user_id or principal.maker_user_id
