"""The `idempotency_keys` table: what a caller already did under a key of theirs."""

from typing import Any
from uuid import UUID

from sqlmodel import Field

from storage.tables.base import Row
from storage.types import JsonColumn


class IdempotencyKeyRow(Row, table=True):
    """Written in the operation's own transaction, so it exists exactly if the operation happened.

    `resource_id` or `answer` (counts) say what to give a retry; `sealed` is a secret shown once,
    encrypted under a key that only the caller can derive.
    """

    __tablename__ = "idempotency_keys"

    subject: str = Field(primary_key=True)
    operation: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    digest: str
    status: int | None = None
    resource_id: UUID | None = None
    answer: dict[str, Any] | None = Field(default=None, sa_type=JsonColumn)
    sealed: str | None = None
