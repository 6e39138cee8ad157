"""Sign-up: an address is emailed a link, and the account is created on the page that the link opens.

No answer tells whether a user has the address: only its mailbox learns that.
"""

import json
from dataclasses import dataclass, field
from datetime import timedelta

from resolvers.accounts.users import find_user, insert_user, learn_language, verify_address
from resolvers.mails.mails import make_own_mail, send_mails
from resolvers.operations.context import Context
from resolvers.operations.declaration import public
from resolvers.sign_in.attempts import Subject, address_subject, count_in
from resolvers.sign_in.mailed_links import LinkState, make_account_notice
from resolvers.sign_in.new_passwords import hash_new_password
from resolvers.sign_in.sign_in import Browser, OpenedSession, complete_sign_in
from schema.accounts.accounts import NewAccount, SignUp
from storage.clock import now
from storage.emails import fold_email
from storage.rows.rows import Duplicate
from storage.sealing import Purpose, read_signed, signed

LINK_PATH = "/sign-up/account"
LIFETIME = timedelta(days=3)
# A longer path after the sign-up is left out of the link.
LONGEST_NEXT_PATH = 2000
_TOO_MANY_EMAILS = (
    "Many emails were requested for this address. Try again in {wait}, or use the link in the latest one."
)


@dataclass(frozen=True)
class SignUpLink:
    """The state of a link to create an account, its address, and the path that the new user goes on to.

    `USED` means that a user has the address by now.
    """

    state: LinkState
    email: str = field(default="", repr=False)
    next_path: str = ""


@public("the caller has no account", restricted=True)
async def request_account(ctx: Context, data: SignUp, next_path: str = "") -> None:
    """Email the address a link to create an account or, if a user has it, a notice that says so.

    The look-up begins after the answer, which is the same and takes the same time for any address. Raises
    `RateLimited` after several for one address, which are counted like wrong passwords.
    """
    subject = Subject.of(ctx, "sign-up", fold_email(data.email))
    async with ctx.services.database.write() as connection:
        await count_in(connection, subject, _TOO_MANY_EMAILS)

    async def send() -> None:
        link = _make_link(ctx, data.email, next_path)
        async with ctx.change() as change:
            user = await find_user(change.connection, data.email)
            if user is None:
                mail = make_own_mail(data.email, "sign_up", language=None, address=data.email, link=link)
            else:
                mail = make_account_notice(change, user.email, user.language)
            await send_mails(change, [mail])

    ctx.caller.after_response.append(send)


@public("the link is the credential")
async def get_sign_up_link(ctx: Context, token: str) -> SignUpLink:
    """The state of the link with this token."""
    text = read_signed(ctx.services.secret_key, Purpose.SIGN_UP, token)
    if text is None:
        return SignUpLink(LinkState.UNKNOWN)
    email, next_path, end = json.loads(text)
    if now().timestamp() >= end:
        return SignUpLink(LinkState.EXPIRED, email, next_path)
    async with ctx.read() as connection:
        user = await find_user(connection, email)
    return SignUpLink(LinkState.VALID if user is None else LinkState.USED, email, next_path)


@public("the link is the credential", restricted=True)
async def create_account(ctx: Context, data: NewAccount, browser: Browser) -> OpenedSession | SignUpLink:
    """Create a user, whose email the link has confirmed, and sign them in.

    Returns the link if it is not valid. Raises `Invalid` for a password that is easy to guess; the link then
    stays valid.
    """
    link = await get_sign_up_link(ctx, data.token)
    if link.state is not LinkState.VALID:
        return link
    password_hash = await hash_new_password(
        ctx, data.password, link.email, data.name, account=address_subject(ctx, link.email).digest
    )
    try:
        async with ctx.change() as change:
            user = await insert_user(change.connection, link.email, password_hash, data.name)
            user = await verify_address(change.connection, user)
            user = await learn_language(change.connection, user)
            return await complete_sign_in(change.connection, ctx, user, browser)
    except Duplicate:
        return SignUpLink(LinkState.USED, link.email, link.next_path)


def _make_link(ctx: Context, email: str, next_path: str) -> str:
    """The address of a link that is signed instead of stored, so that strangers' sign-ups leave no rows."""
    next_path = next_path if len(next_path) <= LONGEST_NEXT_PATH else ""
    end = int((now() + LIFETIME).timestamp())
    text = json.dumps([email, next_path, end], ensure_ascii=False)
    token = signed(ctx.services.secret_key, Purpose.SIGN_UP, text)
    return f"{ctx.services.auth_url}{LINK_PATH}?token={token}"
