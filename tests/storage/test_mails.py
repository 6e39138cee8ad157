"""Mails are written in the transaction of the change that they report."""

from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from storage.queues.mails import Mail, write_mail
from storage.rows.rows import table_of
from storage.tables.mails import MailRow
from tests.support.mails.mailed import mails_to

_mails = table_of(MailRow)


async def row_to(connection, address):
    """The one mail to an address, in the transaction that writes it: the gateway sends it soon after that."""
    found = await connection.execute(select(_mails).where(_mails.c.recipient == address))
    return found.mappings().one()


async def test_a_mail_is_there_once_the_change_is_committed(gateway, tenant):
    address = f"{uuid4().hex}@example.com"
    async with gateway.database.write() as connection:
        await write_mail(connection, Mail(address, "Hello", "Good morning"), UUID(tenant.id))
        row = await row_to(connection, address)
        assert await mails_to(gateway, address) == []
    assert (row["subject"], row["text"], row["html"]) == ("Hello", "Good morning", None)
    assert (row["workspace_id"], row["attempts"]) == (UUID(tenant.id), 0)
    (mail,) = await mails_to(gateway, address)
    assert (mail.subject, mail.text, mail.html) == ("Hello", "Good morning\n", "\n")


async def test_a_mail_goes_with_the_change_that_is_undone(gateway):
    address = f"{uuid4().hex}@example.com"

    async def change_and_fail():
        async with gateway.database.write() as connection:
            await write_mail(connection, Mail(address, "Hello", "Good morning"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await change_and_fail()
    assert await mails_to(gateway, address) == []


async def test_a_subject_is_one_line(gateway):
    address = f"{uuid4().hex}@example.com"
    async with gateway.database.write() as connection:
        await write_mail(connection, Mail(address, "Hello\r\nBcc: eve@example.com\u2028you", "Good morning"))
        row = await row_to(connection, address)
    assert row["subject"] == "Hello Bcc: eve@example.com you"


def test_the_texts_of_a_mail_are_not_shown_with_it():
    assert "123456" not in repr(Mail("ada@example.com", "Your code", "123456", "<p>123456</p>"))
