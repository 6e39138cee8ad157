"""Changing a user's email: by a link sent to the new address, followed while signed in."""

from dataclasses import replace

from resolvers.accounts.users import find_user
from resolvers.credentials.browser_sessions import IN_A_BROWSER
from resolvers.mails.mails import make_own_mail, send_mails
from resolvers.operations.context import Context
from resolvers.operations.declaration import public, requires
from resolvers.sign_in.mailed_links import (
    FORGOTTEN_PATH,
    LinkState,
    MailedLink,
    find_link,
    find_open_recipient,
    mail_link,
    use_link,
)
from resolvers.sign_in.sign_in import find_own_user
from resolvers.workspaces.memberships import change_members_address
from schema.accounts.accounts import NewAddress
from schema.errors import Invalid, NotPermitted, problem
from storage.clock import now
from storage.enums import LinkPurpose
from storage.rows.rows import Duplicate, update_row
from storage.tables.accounts.users import UserRow

TAKEN = "There is already an account with this email"


@requires(None, kinds=IN_A_BROWSER, fresh=True, audits=True)
async def request_new_address(ctx: Context, data: NewAddress) -> None:
    """Email a link to the new address, which does not change the user's address before it is used.

    The current address is notified, so that its owner can prevent the change by a new password. If another
    account has the new address, its owner is sent a notice in place of the link, and the answer is the same.
    Raises `RateLimited` after five in an hour.
    """
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=True)
    user = await find_own_user(ctx)
    if data.email == user.email:
        raise Invalid([problem(("data", "email"), "This is your email address already", "same")])
    async with ctx.change() as change:
        owner = await find_user(change.connection, data.email)
        is_own = owner is not None and owner.id == user.id
        await mail_link(change, user.id, LinkPurpose.NEW_ADDRESS, data.email, owner=None if is_own else owner)
        await _notify(change, user, data.email, is_done=False)


@requires(None, kinds=IN_A_BROWSER)
async def get_requested_address(ctx: Context) -> str | None:
    """The address that the user asked to change to and has not confirmed; None if there is none."""
    user = await find_own_user(ctx)
    async with ctx.read() as connection:
        return await find_open_recipient(connection, user.id, LinkPurpose.NEW_ADDRESS)


@public("the link is the credential")
async def get_new_address(ctx: Context, token: str) -> MailedLink:
    """The state of the link with this token, which stays unused."""
    async with ctx.read() as connection:
        return await find_link(connection, token, LinkPurpose.NEW_ADDRESS)


@requires(None, kinds=IN_A_BROWSER, audits=True)
async def confirm_new_address(ctx: Context, token: str) -> MailedLink:
    """Use the link: its address becomes the user's, confirmed, and the former one is notified.

    Only the account's own session can use it. Otherwise a mistyped address would give the account to its
    owner. Raises `NotPermitted` or, if another account has the address by now, `Invalid`; the link then
    stays unused.
    """
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=True)
    try:
        async with ctx.change() as change:
            link = await use_link(change.connection, token, LinkPurpose.NEW_ADDRESS)
            if link.user is None or link.state is not LinkState.VALID:
                return link
            if link.user.id != ctx.principal.user_id:
                raise NotPermitted("This link is for another account. Sign in to that account, then confirm.")
            values = {"email": link.recipient, "email_verified_at": now()}
            user = await update_row(change.connection, UserRow, link.user, **values)
            await change_members_address(change.connection, user)
            await _notify(change, link.user, user.email, is_done=True)
            return replace(link, user=user)
    except Duplicate:
        raise Invalid([problem(("token",), TAKEN, "duplicate")]) from None


async def _notify(change: Context, user: UserRow, new_address: str, *, is_done: bool) -> None:
    # An unconfirmed address may belong to another person, who should not get more of these.
    if user.email_verified_at is None:
        return
    mail = make_own_mail(
        user.email,
        "address_change",
        language=user.language,
        address=user.email,
        new_address=new_address,
        is_done=is_done,
        forgotten=f"{change.services.auth_url}{FORGOTTEN_PATH}",
    )
    await send_mails(change, [mail])
