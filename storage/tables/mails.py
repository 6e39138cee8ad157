"""The `mails` table: what is still to be sent; a row goes as soon as its mail has gone."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlmodel import Field

from storage.clock import now
from storage.tables.base import DirectoryRow
from storage.types import MomentColumn


class MailRow(DirectoryRow, table=True):
    """Written with the change that it tells of, so it exists exactly if the change happened.

    Whoever sends it puts `due_at` off first, so that nobody else takes it meanwhile, and counts an
    attempt, by whose number only the last one to take it can put it off again. The lowest `rank` goes first.
    A mail to an empty `recipient` is not sent.
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
