"""The `mailed_links` table: links emailed to users, each for one purpose and one use."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlmodel import Field

from storage.tables.base import DirectoryRow
from storage.types import MomentColumn


class MailedLinkRow(DirectoryRow, table=True):
    """A link that is valid until it is used, expires, or is ended by a newer link or because it is moot.

    `hash` is the SHA-256 of its secret, `recipient` the address that it was sent to: folded, unless the link
    makes it the user's address, which keeps its spelling. A link without a user is never sent: it is written
    so that the work for an address does not reveal whether a user has it.
    """

    __tablename__ = "mailed_links"
    __table_args__ = (Index("ix_mailed_links_user", "user_id", "purpose", "created_at"),)

    user_id: UUID | None = Field(default=None, foreign_key="users.id")
    purpose: str
    recipient: str
    hash: str = Field(unique=True)
    expires_at: datetime = Field(index=True, sa_type=MomentColumn)
    used_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    ended_at: datetime | None = Field(default=None, sa_type=MomentColumn)
