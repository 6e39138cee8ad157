"""The tables of file-share sessions with their downloads, payments and refunds.

No table declares `unique`, because a report with an external id that exists already is not an error. The
operation is retried and then finds the row that was stored first.
"""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Index
from sqlmodel import Field

from storage.enums import FileShareSessionStatus
from storage.tables.base import Counted, TenantRow, references
from storage.types import CodePointText, MomentColumn


class FileShareSessionRow(TenantRow, table=True):
    """A session of `person`; `is_converted` is true once a payment for it was recorded.

    Amounts are minor units. The session cannot end before `last_download_at`.
    """

    __tablename__ = "file_share_sessions"
    __table_args__ = (
        references("share_id", "shares"),
        references("customer_id", "customers"),
        Index("uq_file_share_sessions_external_id", "workspace_id", "external_id", unique=True),
        Index("ix_file_share_sessions_created_at", "workspace_id", "created_at", "id"),
        Index("ix_file_share_sessions_share", "workspace_id", "share_id", "created_at", "id"),
        Index("ix_file_share_sessions_customer", "workspace_id", "customer_id", "created_at", "id"),
    )
    counted: ClassVar[Counted] = ((), ("share_id",), ("customer_id",), ("status",))

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    external_id: str | None = Field(default=None, sa_type=CodePointText)
    share_id: UUID | None = None
    customer_id: UUID | None = None
    external_customer_id: str | None = Field(default=None, sa_type=CodePointText)
    person: int | None = None
    status: str = FileShareSessionStatus.CREATED.value
    price_amount: int | None = None
    price_currency: str | None = None
    file_size_bytes: int = Field(sa_type=BigInteger)
    download_count: int = 0
    first_download_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    last_download_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    ended_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    is_converted: bool = False


class FileShareDownloadRow(TenantRow, table=True):
    __tablename__ = "file_share_downloads"
    __table_args__ = (
        references("file_share_session_id", "file_share_sessions"),
        Index("uq_file_share_downloads_external_id", "workspace_id", "external_id", unique=True),
        Index("ix_file_share_downloads_session", "workspace_id", "file_share_session_id"),
    )

    file_share_session_id: UUID
    external_id: str | None = Field(default=None, sa_type=CodePointText)
    at: datetime = Field(sa_type=MomentColumn)


class FileSharePaymentRow(TenantRow, table=True):
    """A payment; `refunded_amount` and `refunded_fee` are the sums over its refunds."""

    __tablename__ = "file_share_payments"
    __table_args__ = (
        references("file_share_session_id", "file_share_sessions"),
        Index("uq_file_share_payments_external_id", "workspace_id", "external_id", unique=True),
        Index("ix_file_share_payments_session", "workspace_id", "file_share_session_id"),
    )

    file_share_session_id: UUID
    external_id: str | None = Field(default=None, sa_type=CodePointText)
    amount: int
    platform_fee: int = 0
    currency: str
    at: datetime = Field(sa_type=MomentColumn)
    refunded_amount: int = 0
    refunded_fee: int = 0


class FileShareRefundRow(TenantRow, table=True):
    __tablename__ = "file_share_refunds"
    __table_args__ = (
        references("file_share_payment_id", "file_share_payments"),
        Index("uq_file_share_refunds_external_id", "workspace_id", "external_id", unique=True),
        Index("ix_file_share_refunds_payment", "workspace_id", "file_share_payment_id"),
    )

    file_share_payment_id: UUID
    external_id: str | None = Field(default=None, sa_type=CodePointText)
    amount: int
    platform_fee: int = 0
    at: datetime = Field(sa_type=MomentColumn)
