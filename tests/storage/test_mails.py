"""Mails are written in the transaction of the change that they report."""

from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from storage.queues.mails import Mail, write_mail
from storage.rows.rows import table_of
from storage.tables.mails import MailRow

_mails = table_of(MailRow)


async def written_to(gateway, address):
    async with gateway.database.read() as connection:
        found = await connection.execute(select(_mails).where(_mails.c.recipient == address))
        return [dict(row) for row in found.mappings()]


async def test_a_mail_is_there_once_the_change_is_committed(gateway, tenant):
    address = f"{uuid4().hex}@example.com"
    async with gateway.database.write() as connection:
        await write_mail(connection, Mail(address, "Hello", "Good morning"), UUID(tenant.id))
        assert await written_to(gateway, address) == []
    (row,) = await written_to(gateway, address)
    assert (row["subject"], row["text"], row["html"]) == ("Hello", "Good morning", None)
    assert (row["workspace_id"], row["attempts"]) == (UUID(tenant.id), 0)


async def test_a_mail_goes_with_the_change_that_is_undone(gateway):
    address = f"{uuid4().hex}@example.com"

    async def change_and_fail():
        async with gateway.database.write() as connection:
            await write_mail(connection, Mail(address, "Hello", "Good morning"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await change_and_fail()
    assert await written_to(gateway, address) == []


async def test_a_subject_is_one_line(gateway):
    address = f"{uuid4().hex}@example.com"
    async with gateway.database.write() as connection:
        await write_mail(connection, Mail(address, "Hello\r\nBcc: eve@example.com\u2028you", "Good morning"))
    assert [row["subject"] for row in await written_to(gateway, address)] == [
        "Hello Bcc: eve@example.com you"
    ]


def test_the_texts_of_a_mail_are_not_shown_with_it():
    assert "123456" not in repr(Mail("ada@example.com", "Your code", "123456", "<p>123456</p>"))
