"""How users who forgot their password set a new one: by a link that their address is mailed."""

from oauth.endings import end_user
from resolvers.accounts.users import find_user, verify_address
from resolvers.mails.mails import make_mail, send_mails
from resolvers.operations.context import Context
from resolvers.operations.declaration import public
from resolvers.sign_in.attempts import address_subject, forget_attempts
from resolvers.sign_in.mailed_links import LinkState, MailedLink, find_link, mail_link_if_known, use_link
from resolvers.sign_in.new_passwords import hash_new_password
from schema.accounts import ForgottenPassword, NewPassword
from storage.enums import LinkPurpose
from storage.rows import update_row
from storage.tables.users import UserRow

# Where the page is on which a link is asked for.
PATH = "/forgotten-password"


@public("who asks has no other way in", restricted=True)
async def request_new_password(ctx: Context, data: ForgottenPassword) -> None:
    """Mail the user with this address a link, if there is one and they were not mailed five in an hour.

    All of it comes after the answer, which is the same, and takes the same time, for any address. So do
    requests that wait for it: its statements are the same too.
    """

    async def send() -> None:
        async with ctx.change() as change:
            user = await find_user(change.connection, data.email)
            await mail_link_if_known(change, user, LinkPurpose.PASSWORD)

    ctx.caller.after_response.append(send)


@public("the link is the credential")
async def get_forgotten_password(ctx: Context, token: str) -> MailedLink:
    """What the link with this secret is worth; looking at it does not use it."""
    async with ctx.read() as connection:
        return await find_link(connection, token, LinkPurpose.PASSWORD)


@public("the link is the credential", restricted=True)
async def set_new_password(ctx: Context, data: NewPassword) -> MailedLink:
    """Use the link: the password is changed, the address is proved, and nothing from before counts any more.

    Browser sessions, personal access tokens, OAuth tokens and what applications were allowed end: somebody
    else may have known the password before.
    """
    async with ctx.read() as connection:
        link = await find_link(connection, data.token, LinkPurpose.PASSWORD)
    if link.state is not LinkState.VALID:
        return link
    if link.user is None:
        raise TypeError("A valid link always has a user.")
    password_hash = await hash_new_password(data.password, link.user.email, link.user.name)
    async with ctx.change() as change:
        link = await use_link(change.connection, data.token, LinkPurpose.PASSWORD)
        if link.user is not None and link.state is LinkState.VALID:
            user = await update_row(change.connection, UserRow, link.user, password_hash=password_hash)
            await end_user(change.connection, user.id)
            await forget_attempts(change.connection, address_subject(change, user.email))
            if user.email_verified_at is None:
                user = await verify_address(change.connection, user)
            await mail_password_change(change, user, everything_ended=True)
        return link


async def mail_password_change(change: Context, user: UserRow, *, everything_ended: bool = False) -> None:
    """Tell the user that their password was changed, which somebody else may have done.

    `everything_ended` says that tokens and applications ended too, not the other browsers' sessions alone.
    """
    await _mail(change, user.email, "password_change", everything_ended=everything_ended)


async def mail_wrong_passwords(change: Context, email: str) -> None:
    """Tell the user with this address that somebody tries passwords."""
    await _mail(change, email, "wrong_passwords")


async def _mail(change: Context, email: str, template: str, **values: bool) -> None:
    forgotten = f"{change.services.auth_url}{PATH}"
    mail = make_mail(email, template, address=email, forgotten=forgotten, **values)
    await send_mails(change, [mail])
