"""Links that users were mailed, as the pages' tests find, follow and age them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from sqlalchemy import select

from storage.emails import fold_email
from storage.rows.rows import table_of, update_rows
from storage.tables.accounts.mailed_links import MailedLinkRow
from storage.tables.accounts.users import UserRow
from tests.support.browsers.browsing import PASSWORD, Browsing
from tests.support.mails.mailed import mails_to, sent_to
from tests.support.measures.patience import until
from tests.support.servers.gateways import Gateway, start_session
from tests.support.tenants.membership import make_user

NEW_PASSWORD = "another long password"

_LINK = re.compile(r"^http://gateway(/[a-z/-]+\?token=[A-Za-z0-9_.-]{43,})$", re.MULTILINE)
_SIGN_UP_PATH = re.compile(r"/sign-up/account\?token=\S+")
_links, _users = table_of(MailedLinkRow), table_of(UserRow)


async def mailed_links(gateway: Gateway, email: str) -> list[str]:
    """The paths of all links that the address was mailed, the oldest first."""
    return [path for mail in await mails_to(gateway, email) for path in _LINK.findall(mail.text)]


async def latest_link(gateway: Gateway, email: str) -> str:
    return (await mailed_links(gateway, email))[-1]


async def ask_to_sign_up(browser: Browsing, email: str) -> str:
    """Enter an address on the page to sign up; what the page then says."""
    await browser.open("/sign-up")
    await browser.press("Email me a link", email=email)
    return browser.text


async def open_sign_up_link(gateway: Gateway, browser: Browsing, email: str | None = None) -> str:
    """The address whose mailed link this browser has opened, up to the form for the password."""
    email = email or f"{uuid4().hex}@example.com"
    await ask_to_sign_up(browser, email)
    await browser.open(await latest_link(gateway, email))
    return email


async def sign_up_path(outbox: Path, email: str) -> str:
    """The path of the link that the address is mailed, once it is in the outbox of a served gateway."""

    async def read() -> str | None:
        paths = [found[0] for mail in sent_to(outbox, email) if (found := _SIGN_UP_PATH.search(mail.text))]
        return paths[-1] if paths else None

    return await until(read)


async def sign_up(gateway: Gateway, browser: Browsing, password: str = PASSWORD) -> str:
    """The address of a new user, signed in with this browser."""
    email = await open_sign_up_link(gateway, browser)
    await browser.press("Create account", password=password)
    return email


async def sign_in_unconfirmed(gateway: Gateway, browser: Browsing) -> str:
    """The address of a user, signed in with this browser and mailed a link, who was there before sign-ups
    confirmed addresses."""
    user = await make_user(gateway, confirmed=False)
    session = await start_session(gateway, user.user_id)
    browser.client.cookies.set("duograph_session", session.text, domain="gateway.local")
    await browser.open("/account")
    await browser.press("Resend the email")
    await browser.open("/workspaces")
    return user.email


async def ask_for_a_link(browser: Browsing, email: str) -> str:
    """Ask for a new password; what the page then says."""
    await browser.open("/forgotten-password")
    await browser.press("Email me a link", email=email)
    return browser.text


async def change_links(gateway: Gateway, email: str, **values: Any) -> None:
    """Change what is kept of the links of the user with this address."""
    mine = select(_users.c.id).where(_users.c.email_folded == fold_email(email))
    async with gateway.database.write() as connection:
        await update_rows(connection, MailedLinkRow, _links.c.user_id.in_(mine), **values)


async def change_address(gateway: Gateway, email: str, new: str) -> None:
    async with gateway.database.write() as connection:
        await update_rows(connection, UserRow, _users.c.email_folded == fold_email(email), email=new)


async def linked_rows(gateway: Gateway, email: str) -> list[dict[str, Any]]:
    wanted = select(_links).where(_links.c.recipient == fold_email(email)).order_by(_links.c.created_at)
    async with gateway.database.read() as connection:
        return [dict(row) for row in (await connection.execute(wanted)).mappings()]


def token_of(path: str) -> str:
    return urlsplit(path).query.removeprefix("token=")
