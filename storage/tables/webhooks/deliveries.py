"""The `webhook_deliveries` table, a change told to an endpoint, and `webhook_attempts` with what was sent."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, FromClause, Index, literal_column, text
from sqlmodel import Field

from storage.enums import DeliveryStatus
from storage.tables.base import TenantRow
from storage.types import JsonColumn, MomentColumn

# By the name of the index that finds them.
PENDING = text("status = 'pending'")


def is_pending(deliveries: FromClause) -> ColumnElement[bool]:
    """The condition on pending rows of the table, or of an alias of it.

    It has no parameter: a plan that is kept for all values of one has no use for an index of what is pending.
    """
    return deliveries.c.status == literal_column(f"'{DeliveryStatus.PENDING.value}'")


class WebhookDeliveryRow(TenantRow, table=True):
    """A change that an endpoint is told; `due_at` is when it is tried next, while it is `pending`.

    A process claims deliveries by postponing `due_at`, and counts an attempt: only the process with the
    latest attempt records what became of it. `first_due_at` is when it could be tried first, or first again
    after `attempts_before`, which were made before it was redelivered. A delivery outlives its endpoint, so
    there is no foreign key.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index("ix_webhook_deliveries_created_at", "created_at"),
        Index("ix_webhook_deliveries_list", "workspace_id", "created_at", "id"),
        Index("uq_webhook_deliveries_change", "workspace_id", "endpoint_id", "change_id", unique=True),
        Index(
            "ix_webhook_deliveries_due",
            *("workspace_id", "endpoint_id", "due_at"),
            sqlite_where=PENDING,
            postgresql_where=PENDING,
        ),
        Index(
            "ix_webhook_deliveries_work",
            *("due_at", "workspace_id", "endpoint_id"),
            sqlite_where=PENDING,
            postgresql_where=PENDING,
        ),
        Index(
            "ix_webhook_deliveries_order",
            *("workspace_id", "endpoint_id", "resource_id", "position"),
            sqlite_where=PENDING,
            postgresql_where=PENDING,
        ),
    )

    endpoint_id: UUID
    change_id: UUID
    position: int = Field(sa_type=BigInteger)
    kind: str
    resource_id: UUID | None = None
    count: int | None = None
    at: datetime = Field(sa_type=MomentColumn)
    status: str = DeliveryStatus.PENDING.value
    first_due_at: datetime = Field(sa_type=MomentColumn)
    due_at: datetime = Field(sa_type=MomentColumn)
    attempts: int = 0
    attempts_before: int = 0
    ended_at: datetime | None = Field(default=None, sa_type=MomentColumn)


class WebhookAttemptRow(TenantRow, table=True):
    """An attempt: the answer's `status`, or the `code` of what prevented one, and both sides to 4 KiB.

    `scopes` are those that read what was sent; null before they were noted.
    """

    __tablename__ = "webhook_attempts"
    __table_args__ = (
        Index("ix_webhook_attempts_created_at", "created_at"),
        Index("ix_webhook_attempts_delivery", "workspace_id", "delivery_id", "created_at"),
    )

    delivery_id: UUID
    milliseconds: int
    status: int | None = None
    code: str | None = None
    request_headers: dict[str, Any] = Field(sa_type=JsonColumn)
    request_body: str
    response_headers: dict[str, Any] = Field(sa_type=JsonColumn)
    response_body: str
    scopes: list[str] | None = Field(default=None, sa_type=JsonColumn)
