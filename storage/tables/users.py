"""The `users` table: people who sign in."""

from datetime import datetime
from typing import ClassVar

from sqlmodel import Field

from storage.tables.base import DirectoryRow
from storage.types import CodePointText, MomentColumn


class UserRow(DirectoryRow, table=True):
    """A user; until `email_verified_at` the address is only what somebody said it is."""

    __tablename__ = "users"
    folded: ClassVar[dict[str, str]] = {"email_folded": "email"}
    unique: ClassVar[dict[str, str]] = {"email": "email_folded"}

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    email: str
    email_folded: str = Field(sa_type=CodePointText, unique=True)
    email_verified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    name: str | None = None
    password_hash: str
