"""Mails: written in the transaction of the change that they report, then claimed and sent."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, literal, select, update

from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import Values, first_of, insert_rows, table_of
from storage.tables.mails import MailRow

_mails = table_of(MailRow)

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


async def is_mail_due(connection: Connection) -> bool:
    """Whether a mail can be claimed; unlike the claim, this never waits for a lock."""
    due = select(literal(1)).where(_mails.c.due_at <= now()).limit(1)
    return (await connection.execute(due)).first() is not None


async def claim_mail(connection: Connection, lease: timedelta) -> MailRow | None:
    """The mail that has been due longest, urgent mails first; None if none is due.

    It is due again after `lease`, in case its sender crashes. Skips rows that other processes are claiming.
    """
    moment = now()
    next_due = (
        select(_mails.c.id)
        .where(_mails.c.due_at <= moment)
        .order_by(_mails.c.rank, _mails.c.due_at, _mails.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    claim = (
        update(_mails)
        .where(_mails.c.id == next_due.scalar_subquery())
        .values(due_at=moment + lease, attempts=_mails.c.attempts + 1)
        .returning(_mails)
    )
    return await first_of(connection, MailRow, claim)


async def postpone_mail(connection: Connection, claimed: MailRow, due_at: datetime) -> None:
    """Make the mail due again at `due_at`, unless another process has claimed it meanwhile."""
    own = (_mails.c.id == claimed.id) & (_mails.c.attempts == claimed.attempts)
    await connection.execute(update(_mails).where(own).values(due_at=due_at))


async def forget_mail(connection: Connection, claimed: MailRow) -> None:
    """Delete the mail, which was sent or never will be. Texts may hold secrets, so none is kept."""
    await connection.execute(delete(_mails).where(_mails.c.id == claimed.id))
