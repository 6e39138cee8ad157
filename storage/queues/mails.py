"""Mails: written in the transaction of the change that they report, then claimed and sent."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete

from storage.engine.connections import Connection
from storage.queues.queue import Queue
from storage.rows.rows import Values, insert_rows, table_of
from storage.tables.mails import MailRow

_mails = table_of(MailRow)

# Those that are due longest come first, urgent ones before all others.
MAILS = Queue(MailRow, order=[_mails.c.rank, _mails.c.due_at, _mails.c.id], lease=timedelta(minutes=3))

# The recipient of mails that are written and removed like all others but never sent, so that an unknown
# address causes the same database work as a known one.
NO_RECIPIENT = ""


@dataclass(frozen=True)
class Mail:
    """A mail to one address; `html` has the same content as `text`. Urgent mails are sent first."""

    to: str
    subject: str
    text: str = field(repr=False)
    html: str | None = field(default=None, repr=False)
    is_urgent: bool = False


async def write_mail(connection: Connection, mail: Mail, workspace_id: UUID | None = None) -> None:
    """Queue a mail, to be sent once the transaction commits; `workspace_id` is the sending workspace."""
    await write_mails(connection, [mail], workspace_id)


async def write_mails(
    connection: Connection, mails: Sequence[Mail], workspace_id: UUID | None = None
) -> None:
    """The same for several mails, in one statement.

    Line breaks in subjects become spaces, because they would start another header.
    """
    rows: list[Values] = [
        {
            "workspace_id": workspace_id,
            "recipient": mail.to,
            "subject": " ".join(mail.subject.split()),
            "text": mail.text,
            "html": mail.html,
            "rank": 0 if mail.is_urgent else 1,
        }
        for mail in mails
    ]
    await insert_rows(connection, MailRow, rows)


async def forget_mail(connection: Connection, claimed: MailRow) -> None:
    """Delete the mail, which was sent or never will be. Texts may hold secrets, so none is kept."""
    await connection.execute(delete(_mails).where(_mails.c.id == claimed.id))
