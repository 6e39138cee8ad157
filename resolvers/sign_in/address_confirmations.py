"""Confirmation of a user's email: by a link sent to it, followed while signed in."""

from dataclasses import replace

from resolvers.accounts.users import lock_user, verify_address
from resolvers.credentials.browser_sessions import IN_A_BROWSER
from resolvers.operations.context import Context
from resolvers.operations.declaration import public, requires
from resolvers.sign_in.mailed_links import LinkState, MailedLink, find_link, mail_link, use_link
from schema.errors import NotPermitted
from storage.enums import LinkPurpose


@requires(None, kinds=IN_A_BROWSER)
async def mail_address_confirmation(ctx: Context) -> bool:
    """Emails the user a new link; False if the email is confirmed already.

    Raises `RateLimited` after five in an hour.
    """
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=True)
    user_id = ctx.principal.user_id
    if user_id is None:
        raise TypeError("A browser session always has a user.")
    async with ctx.change() as change:
        if (await lock_user(change.connection, user_id)).email_verified_at is not None:
            return False
        await mail_link(change, user_id, LinkPurpose.ADDRESS)
        return True


@public("the link is the credential")
async def get_address_confirmation(ctx: Context, token: str) -> MailedLink:
    """The state of the link with this token, which stays unused."""
    async with ctx.read() as connection:
        return await find_link(connection, token, LinkPurpose.ADDRESS)


@requires(None, kinds=IN_A_BROWSER)
async def confirm_address(ctx: Context, token: str) -> MailedLink:
    """Use the link, which confirms the email: the user then sees the invitations to it.

    Only the account's own session can use it. Otherwise the owner of the email could confirm it for an
    account that another person signed up with it. Raises `NotPermitted`, and the link stays unused.
    """
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=True)
    async with ctx.change() as change:
        link = await use_link(change.connection, token, LinkPurpose.ADDRESS)
        if link.user is None or link.state is not LinkState.VALID:
            return link
        if link.user.id != ctx.principal.user_id:
            raise NotPermitted("This link is for another account. Sign in to that account, then confirm.")
        if link.user.email_verified_at is not None:
            return link
        return replace(link, user=await verify_address(change.connection, link.user))
