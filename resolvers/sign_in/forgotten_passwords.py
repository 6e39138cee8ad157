"""Password reset by an emailed link."""

from oauth.revocation.grants import end_user
from resolvers.accounts.users import find_user, verify_address
from resolvers.mails.mails import Reader, make_mail, make_own_mail, send_mails
from resolvers.operations.context import Context
from resolvers.operations.declaration import public
from resolvers.operations.security_events import note_new_password
from resolvers.sign_in.attempts import address_subject, forget_attempts
from resolvers.sign_in.mailed_links import (
    FORGOTTEN_PATH,
    LinkState,
    MailedLink,
    end_links,
    find_link,
    mail_link_if_known,
    use_link,
)
from resolvers.sign_in.new_passwords import hash_new_password
from schema.accounts.accounts import ForgottenPassword, NewPassword
from storage.enums import LinkPurpose
from storage.rows.rows import update_row
from storage.tables.accounts.users import UserRow


@public("the caller cannot sign in", restricted=True)
async def request_new_password(ctx: Context, data: ForgottenPassword) -> None:
    """Email a link to the user with this address, if there is one, and at most five in an hour.

    The work begins after the answer, which is the same and takes the same time for any address. Requests
    that wait for it take the same time too, since its statements are the same.
    """

    async def send() -> None:
        async with ctx.change() as change:
            user = await find_user(change.connection, data.email)
            await mail_link_if_known(change, user, LinkPurpose.PASSWORD)

    ctx.caller.after_response.append(send)


@public("the link is the credential")
async def get_forgotten_password(ctx: Context, token: str) -> MailedLink:
    """The state of the link with this token, which stays unused."""
    async with ctx.read() as connection:
        return await find_link(connection, token, LinkPurpose.PASSWORD)


@public("the link is the credential", restricted=True)
async def set_new_password(ctx: Context, data: NewPassword) -> MailedLink:
    """Use the link: the password changes, the email is confirmed, and all former access ends.

    Browser sessions, personal access tokens, OAuth tokens and the authorizations of applications end, as
    another person may have known the old password.
    """
    async with ctx.read() as connection:
        link = await find_link(connection, data.token, LinkPurpose.PASSWORD)
    if link.user is None or link.state is not LinkState.VALID:
        return link
    password_hash = await hash_new_password(
        ctx, data.password, link.user.email, link.user.name, account=str(link.user.id)
    )
    async with ctx.change() as change:
        link = await use_link(change.connection, data.token, LinkPurpose.PASSWORD)
        if link.user is not None and link.state is LinkState.VALID:
            user = await update_row(change.connection, UserRow, link.user, password_hash=password_hash)
            await end_user(change.connection, user.id)
            await end_links(change.connection, user.id, LinkPurpose.NEW_ADDRESS)
            await forget_attempts(change.connection, address_subject(change, user.email))
            if user.email_verified_at is None:
                user = await verify_address(change.connection, user)
            await mail_password_change(change, user, everything_ended=True)
            note_new_password(user.id)
        return link


async def mail_password_change(change: Context, user: UserRow, *, everything_ended: bool = False) -> None:
    """Email the user that the password was changed, perhaps by another person.

    `everything_ended` means that tokens and authorizations ended too, and not only other browser sessions.
    """
    mail = make_own_mail(
        user.email,
        "password_change",
        language=user.language,
        address=user.email,
        forgotten=_forgotten(change),
        everything_ended=everything_ended,
    )
    await send_mails(change, [mail])


async def mail_wrong_passwords(change: Context, owner: Reader) -> None:
    """Email the owner of an account that wrong passwords were entered, perhaps on a stranger's page."""
    address, language = owner
    mail = make_mail(
        address, "wrong_passwords", language=language, address=address, forgotten=_forgotten(change)
    )
    await send_mails(change, [mail])


def _forgotten(change: Context) -> str:
    return f"{change.services.auth_url}{FORGOTTEN_PATH}"
