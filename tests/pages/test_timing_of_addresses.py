"""What is done for an address after the answer: the same for one that somebody has and for any other."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import func, select

from resolvers.sign_in.attempts import NOTIFIED_FROM
from storage.rows.rows import table_of
from storage.tables.accounts.mailed_links import MailedLinkRow
from tests.pages.test_wrong_passwords import guess, let_pass
from tests.support.mails.mailed_links import ask_for_a_link, ask_to_sign_up, mailed_links, sign_in_unconfirmed
from tests.support.mails.portal_codes import request
from tests.support.statements.statements import noted

_links = table_of(MailedLinkRow)
_TABLES = re.compile(r"\b(?:FROM|INTO|UPDATE|JOIN) (\w+)")


def kinds_of(statements):
    """Each statement's verb and tables, in their order."""
    return [(text.split(maxsplit=1)[0], *_TABLES.findall(text)) for text in statements]


@pytest.fixture
def steps(gateway):
    """What a call has the database do."""

    async def taken(action):
        with noted(gateway.database) as statements:
            await action
        return kinds_of(statements)

    return taken


def stranger():
    return f"{uuid4().hex}@example.com"


async def test_a_forgotten_password_takes_the_same_steps_for_every_address(gateway, browser, tenant, steps):
    known = await steps(ask_for_a_link(browser, tenant.user_email))
    assert [kind for kind in known if kind[0] != "SELECT"] == [
        ("DELETE", "mailed_links"),
        ("UPDATE", "mailed_links"),
        ("INSERT", "mailed_links"),
        ("INSERT", "mails"),
    ]
    assert await steps(ask_for_a_link(browser, stranger())) == known
    for _ in range(4):
        assert await steps(ask_for_a_link(browser, tenant.user_email)) == known
    # The sixth in an hour is not mailed, and does not tell either.
    assert await steps(ask_for_a_link(browser, tenant.user_email)) == known
    assert len(await mailed_links(gateway, tenant.user_email)) == 5


async def test_a_sign_up_takes_the_same_steps_for_every_address(gateway, browser, tenant, steps):
    known = await steps(ask_to_sign_up(browser, tenant.user_email))
    assert [kind for kind in known if kind[0] != "SELECT"] == [
        ("INSERT", "sign_in_attempts"),
        ("UPDATE", "sign_in_attempts"),
        ("INSERT", "mails"),
    ]
    assert await steps(ask_to_sign_up(browser, stranger())) == known


async def test_links_for_unknown_addresses_share_one_row(gateway, browser):
    for _ in range(5):
        await ask_for_a_link(browser, stranger())
    counted = select(func.count()).select_from(_links).where(_links.c.user_id.is_(None))
    async with gateway.database.read() as connection:
        assert (await connection.execute(counted)).scalar_one() == 1


async def test_wrong_passwords_take_the_same_steps_for_every_address(gateway, browser, tenant, steps):
    """Those of a user's address are told to the user once a day, an address without a user tells nobody."""

    async def guesses(email):
        taken = []
        for number in range(1, NOTIFIED_FROM + 2):
            taken.append(await steps(guess(gateway, email, 1, start=number)))
            await let_pass(gateway, timedelta(hours=1))
        return taken

    known = await guesses(tenant.user_email)
    assert ("INSERT", "mails") in known[-2]
    assert await guesses(stranger()) == known
    assert await guesses(await sign_in_unconfirmed(gateway, browser)) == known


async def test_a_portal_code_takes_the_same_steps_for_every_address(gateway, surface, caller, tenant, steps):
    email = stranger()
    await surface.create_customer(data={"email": email, "name": "Ada"})
    known = await steps(request(caller(None), tenant, email))
    assert ("INSERT", "mails") in known
    assert await steps(request(caller(None), tenant, stranger())) == known
