"""What was mailed to an address, and the codes in it."""

import re
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

from sqlalchemy import select

from storage.rows import table_of
from storage.tables.mails import MailRow

_mails = table_of(MailRow)
_CODE = re.compile(r"^ {4}([0-9A-Z]{6})$", re.MULTILINE)


async def mails_to(gateway: Any, address: str) -> list[str]:
    """The texts of the mails to an address, sent or still to be sent, the oldest first."""
    wanted = select(_mails).where(_mails.c.recipient == address).order_by(_mails.c.created_at)
    async with gateway.database.read() as connection:
        rows = (await connection.execute(wanted)).mappings().all()
    # A mail goes from its row into its file; one that does so right now is seen in both places.
    sent = _sent(gateway.outbox, address)
    waiting = [row["text"] for row in rows if str(row["id"]) not in sent]
    return [*sent.values(), *waiting]


async def latest_code(gateway: Any, address: str) -> str:
    """The code in the latest mail to the address."""
    *_, text = await mails_to(gateway, address)
    (code,) = _CODE.findall(text)
    return str(code)


def _sent(outbox: Path, address: str) -> dict[str, str]:
    """The texts in the outbox by the ids of their rows, the oldest first."""
    texts = {}
    for path in sorted(outbox.glob("*.eml"), key=lambda path: path.stat().st_mtime_ns):
        message = message_from_bytes(path.read_bytes(), policy=default)
        if message["To"].casefold() == address.casefold():
            texts[path.stem] = message.get_body(("plain",)).get_content().replace("\r\n", "\n")
    return texts
