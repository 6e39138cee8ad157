"""What was mailed to an address, and the codes in it."""

import re
from typing import Any

from sqlalchemy import select

from storage.rows import table_of
from storage.tables.mails import MailRow

_mails = table_of(MailRow)
_CODE = re.compile(r"^ {4}([0-9A-Z]{6})$", re.MULTILINE)


async def mails_to(gateway: Any, address: str) -> list[str]:
    """The texts of the mails to an address, the oldest first."""
    wanted = select(_mails.c.text).where(_mails.c.recipient == address).order_by(_mails.c.created_at)
    async with gateway.database.read() as connection:
        return list((await connection.execute(wanted)).scalars())


async def latest_code(gateway: Any, address: str) -> str:
    """The code in the latest mail to the address."""
    *_, text = await mails_to(gateway, address)
    (code,) = _CODE.findall(text)
    return str(code)
