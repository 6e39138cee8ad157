"""The tables of second factors: authenticator apps, passkeys and recovery codes."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Index
from sqlmodel import Field

from storage.tables.base import DirectoryRow, TimestampedRow
from storage.types import JsonColumn, MomentColumn


class TotpSecretRow(TimestampedRow, table=True):
    """The secret that a user's authenticator app holds too (RFC 6238), sealed for that user.

    `last_step` is the time step (30 seconds each, since 1970) of the latest accepted code.
    """

    __tablename__ = "totp_secrets"

    user_id: UUID = Field(primary_key=True, foreign_key="users.id")
    sealed: str
    last_step: int
    last_used_at: datetime | None = Field(default=None, sa_type=MomentColumn)


class RecoveryCodeRow(DirectoryRow, table=True):
    """A code that replaces a second factor once; `hash` is the sealed digest of it, or a digest
    keyed by the secret key if an earlier version made it."""

    __tablename__ = "recovery_codes"
    __table_args__ = (Index("ix_recovery_codes_user", "user_id"),)

    user_id: UUID = Field(foreign_key="users.id")
    hash: str = Field(unique=True)
    used_at: datetime | None = Field(default=None, sa_type=MomentColumn)


class PasskeyRow(DirectoryRow, table=True):
    """A WebAuthn credential. `credential_id` and `public_key` (COSE) are in base64url.

    `sign_count` is the authenticator's counter at its latest use, up to 2^32 - 1; 0 if it has none.
    """

    __tablename__ = "passkeys"
    __table_args__ = (Index("ix_passkeys_user", "user_id", "created_at"),)
    unique: ClassVar[dict[str, str]] = {"passkey": "credential_id"}

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    user_id: UUID = Field(foreign_key="users.id")
    name: str
    credential_id: str = Field(unique=True)
    public_key: str
    sign_count: int = Field(default=0, sa_type=BigInteger)
    transports: list[str] = Field(sa_type=JsonColumn)
    last_used_at: datetime | None = Field(default=None, sa_type=MomentColumn)
