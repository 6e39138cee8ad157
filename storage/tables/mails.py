"""The `mails` table: mails to be sent; a row is deleted once its mail is sent."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlmodel import Field

from storage.clock import now
from storage.tables.base import DirectoryRow
from storage.types import MomentColumn


class MailRow(DirectoryRow, table=True):
    """Written in the transaction of the change that it reports, so it exists exactly if the change happened.

    A process claims a mail by postponing `due_at`, so that no other process sends it meanwhile, and counts an
    attempt: only the process with the latest attempt can postpone it again. The lowest `rank` is sent first.
    A mail to an empty `recipient` is never sent.
    """

    __tablename__ = "mails"
    __table_args__ = (Index("ix_mails_order", "rank", "due_at", "id"),)

    workspace_id: UUID | None = Field(default=None, foreign_key="workspaces.id", index=True)
    recipient: str
    subject: str
    text: str
    html: str | None = None
    due_at: datetime = Field(default_factory=now, sa_type=MomentColumn, index=True)
    attempts: int = 0
    rank: int = 1
