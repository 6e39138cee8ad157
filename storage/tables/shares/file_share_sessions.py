"""The tables of file-share sessions with their downloads, payments and refunds.

No table declares `unique`, because a report with an external id that exists already is not an error. The
operation is retried and then finds the row that was stored first.
"""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Index, text
from sqlmodel import Field

from storage.enums import FileShareSessionStatus
from storage.tables.base import ChangedRow, Counted, TenantRow, references
from storage.types import CodePointText, MomentColumn

_UNCLAIMED = text("customer_id IS NULL AND external_customer_id IS NOT NULL")


class FileShareSessionRow(ChangedRow, TenantRow, table=True):
    """A session of `person`; `is_converted` is true once a payment for it was recorded.

    Sessions of an external id get the customer who takes it. Amounts are minor units. The session cannot end
    before `last_download_at`. `due_amount` is what has to be paid; null in sessions from before it was kept,
    which any payment opens.
    """

    __tablename__ = "file_share_sessions"
    __table_args__ = (
        references("share_id", "shares"),
        references("customer_id", "customers"),
        Index("uq_file_share_sessions_external_id", "workspace_id", "external_id", unique=True),
        Index("ix_file_share_sessions_created_at", "workspace_id", "created_at", "id"),
        Index("ix_file_share_sessions_share", "workspace_id", "share_id", "created_at", "id"),
        Index("ix_file_share_sessions_customer", "workspace_id", "customer_id", "created_at", "id"),
        # Finds what a customer takes over with an external id.
        Index(
            "ix_file_share_sessions_unclaimed",
            "workspace_id",
            "external_customer_id",
            sqlite_where=_UNCLAIMED,
            postgresql_where=_UNCLAIMED,
        ),
        Index("ix_file_share_sessions_ended_at", "workspace_id", "ended_at", "id"),
        Index("ix_file_share_sessions_changed_at", "workspace_id", "changed_at", "id"),
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
    due_amount: int | None = None
    file_size_bytes: int = Field(sa_type=BigInteger)
    download_count: int = 0
    first_download_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    last_download_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    ended_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    is_converted: bool = False


class FileShareReportRow(TenantRow):
    """What happened in a session at a moment, with the share, customer and person of the session.

    They are copied because lists are filtered by them and ordered by `at`. Only a customer who takes the
    external id of a session changes them.
    """

    file_share_session_id: UUID
    share_id: UUID | None = None
    customer_id: UUID | None = None
    person: int | None = None
    external_id: str | None = Field(default=None, sa_type=CodePointText)
    at: datetime = Field(sa_type=MomentColumn)


def _indexes(name: str) -> tuple[Index, ...]:
    """The indexes of a table of reports."""
    return (
        Index(f"uq_{name}_external_id", "workspace_id", "external_id", unique=True),
        Index(f"ix_{name}_at", "workspace_id", "at", "id"),
        Index(f"ix_{name}_session", "workspace_id", "file_share_session_id", "at", "id"),
        Index(f"ix_{name}_share", "workspace_id", "share_id", "at", "id"),
        Index(f"ix_{name}_customer", "workspace_id", "customer_id", "at", "id"),
    )


class FileShareDownloadRow(FileShareReportRow, table=True):
    __tablename__ = "file_share_downloads"
    __table_args__ = (
        references("file_share_session_id", "file_share_sessions"),
        *_indexes("file_share_downloads"),
        Index("ix_file_share_downloads_created_at", "workspace_id", "created_at", "id"),
    )
    counted: ClassVar[Counted] = ((), ("share_id",), ("customer_id",))


class FileSharePaymentRow(ChangedRow, FileShareReportRow, table=True):
    """A payment; `refunded_amount` and `refunded_fee` are the sums over its refunds."""

    __tablename__ = "file_share_payments"
    __table_args__ = (
        references("file_share_session_id", "file_share_sessions"),
        *_indexes("file_share_payments"),
        Index("ix_file_share_payments_changed_at", "workspace_id", "changed_at", "id"),
    )
    counted: ClassVar[Counted] = ((), ("share_id",), ("customer_id",), ("currency",))

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    amount: int
    platform_fee: int = 0
    currency: str
    refunded_amount: int = 0
    refunded_fee: int = 0


class FileShareRefundRow(FileShareReportRow, table=True):
    """A refund, in the currency of its payment."""

    __tablename__ = "file_share_refunds"
    __table_args__ = (
        references("file_share_payment_id", "file_share_payments"),
        *_indexes("file_share_refunds"),
        Index("ix_file_share_refunds_created_at", "workspace_id", "created_at", "id"),
        Index("ix_file_share_refunds_payment", "workspace_id", "file_share_payment_id", "at", "id"),
    )
    counted: ClassVar[Counted] = ((), ("share_id",), ("customer_id",), ("currency",))

    file_share_payment_id: UUID
    amount: int
    platform_fee: int = 0
    currency: str
