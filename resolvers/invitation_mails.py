"""What an address is told that was invited to a workspace."""

from sqlalchemy import select

from resolvers.access import Row
from resolvers.context import Context
from resolvers.mails import make_mail
from resolvers.stranger_mails import mail_stranger
from storage.rows import table_of
from storage.tables.users import UserRow
from storage.tables.workspaces import WorkspaceRow

_workspaces, _users = table_of(WorkspaceRow), table_of(UserRow)


async def mail_invitation(ctx: Context, member: Row) -> None:
    """Mail the address of a new row of workspace members, inside the change that makes it.

    Raises `NotPermitted` or `RateLimited` where nobody may be mailed now, which undoes the change.
    """
    inviter_id = ctx.principal.user_id or ctx.principal.maker_user_id
    wanted = (
        select(_workspaces.c.name, _users.c.name.label("inviter"), _users.c.email.label("inviter_email"))
        .join_from(_workspaces, _users, _users.c.id == inviter_id, isouter=True)
        .where(_workspaces.c.id == member["workspace_id"])
    )
    found = (await ctx.unit.execute(wanted)).mappings().one()
    mail = make_mail(
        member["email"],
        "invitation" if member["user_id"] is None else "new_member",
        workspace=found["name"],
        inviter=found["inviter"],
        inviter_address=found["inviter_email"],
        address=member["email"],
        home=f"{ctx.services.auth_url}/",
    )
    await mail_stranger(ctx, mail, member["workspace_id"])
