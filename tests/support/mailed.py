"""What a gateway of the tests has mailed, or is about to, and the codes in it."""

import re
from dataclasses import dataclass
from email import message_from_bytes, policy
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import select

from storage.rows.rows import table_of
from storage.tables.mails import MailRow

_mails = table_of(MailRow)
_CODE = re.compile(r"^ {4}([0-9A-Z]{6})$", re.MULTILINE)


@dataclass(frozen=True)
class Received:
    """A mail as its reader sees it."""

    to: str
    subject: str
    text: str
    html: str


async def mails_to(gateway: Any, address: str) -> list[Received]:
    """The mails to an address, in any case, sent or still to be sent, the oldest first."""
    wanted = select(_mails).where(_mails.c.recipient == address).order_by(_mails.c.created_at)
    async with gateway.database.read() as connection:
        rows = (await connection.execute(wanted)).mappings().all()
    # A mail goes from its row into its file; one that does so right now is seen in both places.
    sent = _sent(gateway.outbox, address)
    waiting = [_of_row(row) for row in rows if str(row["id"]) not in sent]
    return [*sent.values(), *waiting]


async def latest_code(gateway: Any, address: str) -> str:
    """The code in the latest mail to the address."""
    *_, mail = await mails_to(gateway, address)
    (code,) = _CODE.findall(mail.text)
    return str(code)


def sent_to(outbox: Path, address: str) -> list[Received]:
    """The mails to the address in an outbox, the oldest first."""
    return list(_sent(outbox, address).values())


def _sent(outbox: Path, address: str) -> dict[str, Received]:
    """The mails in the outbox by the ids of their rows, the oldest first."""
    files = sorted(outbox.glob("*.eml"), key=lambda file: file.stat().st_mtime_ns)
    mails = {file.stem: _read(file) for file in files}
    return {id: mail for id, mail in mails.items() if mail.to.casefold() == address.casefold()}


@cache
def _read(file: Path) -> Received:
    mail = message_from_bytes(file.read_bytes(), policy=policy.SMTPUTF8)
    text, html = mail.get_body(("plain",)), mail.get_body(("html",))
    return Received(
        mail["To"],
        mail["Subject"],
        _as_written(text.get_content()),
        _as_written(html.get_content() if html is not None else ""),
    )


def _of_row(row: Any) -> Received:
    texts = (_as_written(row[name] or "") for name in ("text", "html"))
    return Received(row["recipient"], row["subject"], *texts)


def _as_written(text: str) -> str:
    """A file ends its lines as mails do, and its last one too."""
    return text.replace("\r\n", "\n").rstrip("\n") + "\n"
