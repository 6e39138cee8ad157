"""What a gateway of the tests has mailed, or is about to, and the codes in it."""

import re
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.parser import BytesHeaderParser
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
    queued = select(_mails).where(_mails.c.recipient == address)
    async with gateway.database.read() as connection:
        rows = (await connection.execute(queued)).mappings().all()
    waiting = {f"{row['created_at']:%Y%m%dT%H%M%S.%fZ}-{row['id']}": _of_row(row) for row in rows}
    # A mail goes from its row into its file; one that does so right now is seen in both places.
    return _oldest_first(waiting | _sent(gateway.outbox, address))


async def latest_code(gateway: Any, address: str) -> str:
    """The code in the latest mail to the address."""
    *_, mail = await mails_to(gateway, address)
    (code,) = _CODE.findall(mail.text)
    return str(code)


def sent_to(outbox: Path, address: str) -> list[Received]:
    """The mails to the address in an outbox, the oldest first."""
    return _oldest_first(_sent(outbox, address))


def _oldest_first(mails: dict[str, Received]) -> list[Received]:
    """Names begin with the moment at which a mail was queued: files are of another order with two senders."""
    return [mails[name] for name in sorted(mails)]


def _sent(outbox: Path, address: str) -> dict[str, Received]:
    """The mails in the outbox by their names."""
    own = address.casefold()
    return {file.stem: _read(file) for file in outbox.glob("*.eml") if _recipient(file).casefold() == own}


@cache
def _recipient(file: Path) -> str:
    """Most mails are others', and their texts take ten times as long to read."""
    return str(BytesHeaderParser(policy=policy.SMTPUTF8).parsebytes(file.read_bytes())["To"])


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
