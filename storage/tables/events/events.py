"""The `events` table: what happened. Rows change only when a customer takes them over, or is anonymized."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Column, Index, text
from sqlmodel import Field

from storage.clock import now
from storage.tables.base import Counted, TenantRow, references
from storage.types import CodePointText, JsonColumn, MomentColumn

_HAS_SHARE = text("share_id IS NOT NULL")
_BY_SHARE = ("workspace_id", "share_id", "timestamp", "id")


class EventRow(TenantRow, table=True):
    """An event. `timestamp` is when it happened, `created_at` when it was stored or last changed.

    Its cost is `cost_amount` whole minor units plus `cost_parts` times 10^-12 of a minor unit.
    """

    __tablename__ = "events"
    __table_args__ = (
        references("customer_id", "customers"),
        references("parent_id", "events"),
        references("share_id", "shares"),
        Index("uq_events_external_id", "workspace_id", "external_id", unique=True),
        Index("ix_events_created_at", "workspace_id", "created_at", "id"),
        Index("ix_events_timestamp", "workspace_id", "timestamp", "id"),
        Index("ix_events_customer", "workspace_id", "customer_id", "timestamp", "id"),
        Index("ix_events_external_customer", "workspace_id", "external_customer_id", "timestamp", "id"),
        Index("ix_events_name", "workspace_id", "name", "timestamp", "id"),
        Index("ix_events_share", *_BY_SHARE, sqlite_where=_HAS_SHARE, postgresql_where=_HAS_SHARE),
        Index("ix_events_parent", "workspace_id", "parent_id", "timestamp", "id"),
    )
    unique: ClassVar[dict[str, str]] = {"external_id": "external_id"}
    counted: ClassVar[Counted] = ((), ("customer_id",))
    measured: ClassVar[tuple[str, ...]] = ("metadata",)

    timestamp: datetime = Field(default_factory=now, sa_type=MomentColumn)
    external_id: str | None = Field(default=None, sa_type=CodePointText)
    source: str
    name: str = Field(sa_type=CodePointText)
    customer_id: UUID | None = None
    external_customer_id: str | None = Field(default=None, sa_type=CodePointText)
    member_id: UUID | None = None
    external_member_id: str | None = None
    parent_id: UUID | None = None
    share_id: UUID | None = None
    person: int | None = None
    cost_currency: str | None = None
    cost_amount: int | None = Field(default=None, sa_type=BigInteger)
    cost_parts: int | None = Field(default=None, sa_type=BigInteger)
    custom_metadata: dict[str, Any] = Field(
        default_factory=dict, sa_column=Column("metadata", JsonColumn, nullable=False)
    )
