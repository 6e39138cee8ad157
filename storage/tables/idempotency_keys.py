"""The `idempotency_keys` table: operations done under a caller's idempotency key."""

from typing import Any
from uuid import UUID

from sqlalchemy import Index
from sqlmodel import Field

from storage.tables.base import TimestampedRow
from storage.types import JsonColumn


class IdempotencyKeyRow(TimestampedRow, table=True):
    """Written in the operation's own transaction, so it exists exactly if the operation happened.

    A retry is answered from `resource_id` or `answer` (counts). `sealed` is a secret that is shown once,
    encrypted with a key that only the caller can derive.
    """

    __tablename__ = "idempotency_keys"
    __table_args__ = (Index("ix_idempotency_keys_created_at", "created_at"),)

    subject: str = Field(primary_key=True)
    operation: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    digest: str
    status: int | None = None
    resource_id: UUID | None = None
    answer: dict[str, Any] | None = Field(default=None, sa_type=JsonColumn)
    sealed: str | None = None
