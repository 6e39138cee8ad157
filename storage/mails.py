"""Mails: written with the change that they tell of, sent after it."""

from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from storage.rows import insert_row
from storage.tables.mails import MailRow


@dataclass(frozen=True)
class Mail:
    """A mail to one address; `html` says the same as `text`."""

    to: str
    subject: str
    text: str = field(repr=False)
    html: str | None = field(default=None, repr=False)


async def write_mail(connection: AsyncConnection, mail: Mail, workspace_id: UUID | None = None) -> None:
    """Have the mail sent once the transaction is committed; `workspace_id` says on whose behalf.

    Line breaks in the subject become spaces: they would begin another header.
    """
    await insert_row(
        connection,
        MailRow,
        workspace_id=workspace_id,
        recipient=mail.to,
        subject=" ".join(mail.subject.split()),
        text=mail.text,
        html=mail.html,
    )
