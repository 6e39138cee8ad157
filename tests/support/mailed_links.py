"""Links that users were mailed, as the pages' tests find, follow and age them."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from sqlalchemy import select

from storage.emails import fold_email
from storage.rows.rows import table_of, update_rows
from storage.tables.accounts.mailed_links import MailedLinkRow
from storage.tables.accounts.users import UserRow
from tests.support.browsing import PASSWORD, Browsing
from tests.support.gateways import Gateway
from tests.support.mailed import mails_to

NEW_PASSWORD = "another long password"

_LINK = re.compile(r"^http://gateway(/[a-z-]+\?token=[A-Za-z0-9_-]{43})$", re.MULTILINE)
_links, _users = table_of(MailedLinkRow), table_of(UserRow)


async def mailed_links(gateway: Gateway, email: str) -> list[str]:
    """The paths of all links that the address was mailed, the oldest first."""
    return [path for mail in await mails_to(gateway, email) for path in _LINK.findall(mail.text)]


async def latest_link(gateway: Gateway, email: str) -> str:
    return (await mailed_links(gateway, email))[-1]


async def sign_up(browser: Browsing, password: str = PASSWORD) -> str:
    """The address of a new user, signed in with this browser."""
    email = f"{uuid4().hex}@example.com"
    await browser.open("/sign-up")
    await browser.press("Create account", email=email, password=password)
    return email


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
