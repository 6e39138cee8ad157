"""What a gateway of the tests has mailed, or is about to."""

from dataclasses import dataclass
from email import message_from_bytes, policy
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import select

from storage.rows import table_of
from storage.tables.mails import MailRow

_mails = table_of(MailRow)


@dataclass(frozen=True)
class Received:
    """A mail as its reader sees it."""

    to: str
    subject: str
    text: str
    html: str


async def mails_to(gateway: Any, address: str) -> list[Received]:
    """The mails to an address, sent or not, in no order; those that are still rows are read first."""
    found: dict[str, Received] = {}
    async with gateway.database.read() as connection:
        rows = await connection.execute(select(_mails).where(_mails.c.recipient == address))
        for row in rows.mappings():
            texts = (_as_written(row[name] or "") for name in ("text", "html"))
            found[str(row["id"])] = Received(address, row["subject"], *texts)
    for file in gateway.outbox.glob("*.eml"):
        mail = _read(file)
        if mail.to == address:
            found.setdefault(file.stem, mail)
    return list(found.values())


@cache
def _read(file: Path) -> Received:
    mail = message_from_bytes(file.read_bytes(), policy=policy.SMTPUTF8)
    html = mail.get_body(("html",))
    return Received(
        mail["To"],
        mail["Subject"],
        _as_written(mail.get_body(("plain",)).get_content()),
        _as_written(html.get_content() if html is not None else ""),
    )


def _as_written(text: str) -> str:
    """A file ends its lines as mails do, and its last one too."""
    return text.replace("\r\n", "\n").rstrip("\n") + "\n"
