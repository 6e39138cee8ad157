"""The `users` table: people who can sign in."""

from datetime import datetime
from typing import ClassVar

from sqlmodel import Field

from storage.tables.base import DirectoryRow
from storage.types import CodePointText, MomentColumn


class UserRow(DirectoryRow, table=True):
    """A user; the email address is unverified until `email_verified_at` is set."""

    __tablename__ = "users"
    folded: ClassVar[dict[str, str]] = {"email_folded": "email"}
    unique: ClassVar[dict[str, str]] = {"email": "email_folded"}

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    email: str
    email_folded: str = Field(sa_type=CodePointText, unique=True)
    email_verified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    name: str | None = None
    password_hash: str
    language: str | None = None
