"""The `mailed_links` table: the links that users were mailed, each for one purpose and one use."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlmodel import Field

from storage.tables.base import DirectoryRow
from storage.types import MomentColumn


class MailedLinkRow(DirectoryRow, table=True):
    """A link that counts until it is used, expires, or is ended by a newer one or by what makes it moot.

    `hash` is the SHA-256 of the secret in it, `recipient` the case-folded address that it was mailed to.
    Without a user it is a link that nobody was mailed: it is written so that what is done for an address does
    not tell whether a user has it.
    """

    __tablename__ = "mailed_links"
    __table_args__ = (Index("ix_mailed_links_user", "user_id", "purpose", "created_at"),)

    user_id: UUID | None = Field(default=None, foreign_key="users.id")
    purpose: str
    recipient: str
    hash: str = Field(unique=True)
    expires_at: datetime = Field(sa_type=MomentColumn)
    used_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    ended_at: datetime | None = Field(default=None, sa_type=MomentColumn)
