"""The tables of sign-ins in progress: second steps and answered passkey challenges."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlmodel import Field

from storage.tables.base import DirectoryRow
from storage.types import MomentColumn


class SecondStepRow(DirectoryRow, table=True):
    """A sign-in with the right password that still needs a second factor.

    `hash` is the SHA-256 of the secret in the browser's cookie, `password_digest` that of the password hash,
    so that a new password ends the step. `tries` counts wrong codes. `authorization_digest` identifies the
    authorization request that the sign-in is for.
    """

    __tablename__ = "second_steps"
    __table_args__ = (Index("ix_second_steps_user", "user_id", "created_at"),)

    user_id: UUID = Field(foreign_key="users.id")
    hash: str = Field(unique=True)
    password_digest: str
    authorization_digest: str | None = None
    tries: int = 0
    expires_at: datetime = Field(index=True, sa_type=MomentColumn)
    ended_at: datetime | None = Field(default=None, sa_type=MomentColumn)


class AnsweredChallengeRow(DirectoryRow, table=True):
    """A WebAuthn challenge that was answered, kept until it expires so that a second answer is refused."""

    __tablename__ = "answered_challenges"

    hash: str = Field(unique=True)
    expires_at: datetime = Field(index=True, sa_type=MomentColumn)
