"""What an address is told that was invited to a workspace."""

from sqlalchemy import select

from resolvers.mails.mails import make_mail
from resolvers.mails.stranger_mails import mail_stranger
from resolvers.operations.access import Row
from resolvers.operations.context import Context
from schema.prose import write_moment
from storage.rows import table_of
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceRow

# Where signed-in users find the invitations to their address.
PAGE_PATH = "/account/invitations"

_workspaces, _users = table_of(WorkspaceRow), table_of(UserRow)


async def mail_invitation(ctx: Context, member: Row) -> None:
    """Mail the address of a new or renewed invitation, inside the change that makes it.

    Raises `NotPermitted` or `RateLimited` where nobody may be mailed now, which undoes the change.
    """
    wanted = (
        select(_workspaces.c.name, _users.c.name.label("inviter"), _users.c.email.label("inviter_email"))
        .join_from(_workspaces, _users, _users.c.id == member.invited_by_user_id, isouter=True)
        .where(_workspaces.c.id == member.workspace_id)
    )
    found = (await ctx.connection.execute(wanted)).mappings().one()
    mail = make_mail(
        member.email,
        "invitation",
        workspace=found.name,
        inviter=found.inviter,
        inviter_address=found.inviter_email,
        address=member.email,
        ends=write_moment(member.expires_at),
        page=f"{ctx.services.auth_url}{PAGE_PATH}",
    )
    await mail_stranger(ctx, mail, member.workspace_id)
