"""The `customers`, `members` and `customer_sessions` tables."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import Column, Index, text
from sqlmodel import Field

from storage.enums import CustomerType, DeletedResource, MemberRole
from storage.tables.base import ChangedRow, Counted, TenantRow, references
from storage.types import CodePointText, JsonColumn, MomentColumn

_KEPT = text("deleted_at IS NULL")
_OWNS = text("role = 'owner' AND deleted_at IS NULL")


class CustomerRow(ChangedRow, TenantRow, table=True):
    """A customer. Deletion is soft and frees the email and external id, which are unique among the others.

    `person` is the number under which its facts are measured; null before the first one.
    """

    __tablename__ = "customers"
    __table_args__ = (
        Index(
            "uq_customers_email",
            "workspace_id",
            "email_folded",
            unique=True,
            sqlite_where=_KEPT,
            postgresql_where=_KEPT,
        ),
        Index(
            "uq_customers_external_id",
            "workspace_id",
            "external_id",
            unique=True,
            sqlite_where=_KEPT,
            postgresql_where=_KEPT,
        ),
        # `deleted_at` is there so that the indexes alone tell which rows a list shows.
        Index("ix_customers_created_at", "workspace_id", "created_at", "id", "deleted_at"),
        Index("ix_customers_name", "workspace_id", "name_folded", "id", "deleted_at"),
        Index("ix_customers_changed_at", "workspace_id", "changed_at", "id", "deleted_at"),
    )
    folded: ClassVar[dict[str, str]] = {"email_folded": "email", "name_folded": "name"}
    unique: ClassVar[dict[str, str]] = {"email": "email_folded", "external_id": "external_id"}
    counted: ClassVar[Counted] = ((),)
    measured: ClassVar[tuple[str, ...]] = ("billing_address", "metadata")
    tombstone: ClassVar[DeletedResource | None] = DeletedResource.CUSTOMER

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    deleted_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    external_id: str | None = Field(default=None, sa_type=CodePointText)
    email: str
    email_folded: str = Field(sa_type=CodePointText)
    email_verified: bool = False
    name: str | None = None
    name_folded: str | None = Field(default=None, sa_type=CodePointText)
    billing_address: dict[str, Any] = Field(default_factory=dict, sa_type=JsonColumn)
    type: str | None = CustomerType.INDIVIDUAL.value
    person: int | None = None
    language: str | None = None
    custom_metadata: dict[str, Any] = Field(
        default_factory=dict, sa_column=Column("metadata", JsonColumn, nullable=False)
    )


class MemberRow(ChangedRow, TenantRow, table=True):
    """A member of a customer; exactly one member is its owner, which a unique index ensures.

    Deletion is soft, because events refer to members; deleting a customer deletes its members.
    `email_unconfirmed`: another person entered the address, and no sign-in has confirmed it since.
    """

    __tablename__ = "members"
    __table_args__ = (
        references("customer_id", "customers"),
        Index(
            "uq_members_email",
            "workspace_id",
            "customer_id",
            "email_folded",
            unique=True,
            sqlite_where=_KEPT,
            postgresql_where=_KEPT,
        ),
        Index(
            "uq_members_external_id",
            "workspace_id",
            "customer_id",
            "external_id",
            unique=True,
            sqlite_where=_KEPT,
            postgresql_where=_KEPT,
        ),
        Index(
            "uq_members_owner",
            "workspace_id",
            "customer_id",
            unique=True,
            sqlite_where=_OWNS,
            postgresql_where=_OWNS,
        ),
        Index("ix_members_customer", "workspace_id", "customer_id", "created_at", "id"),
        Index("ix_members_created_at", "workspace_id", "created_at", "id", "deleted_at"),
        Index("ix_members_email", "workspace_id", "email_folded"),
        Index("ix_members_changed_at", "workspace_id", "changed_at", "id", "deleted_at"),
    )
    folded: ClassVar[dict[str, str]] = {"email_folded": "email"}
    unique: ClassVar[dict[str, str]] = {"email": "email_folded", "external_id": "external_id"}
    counted: ClassVar[Counted] = ((), ("customer_id",))
    tombstone: ClassVar[DeletedResource | None] = DeletedResource.MEMBER

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    deleted_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    customer_id: UUID
    email: str
    email_folded: str = Field(sa_type=CodePointText)
    email_unconfirmed: bool = False
    name: str | None = None
    external_id: str | None = Field(default=None, sa_type=CodePointText)
    role: str = MemberRole.MEMBER.value


class CustomerSessionRow(TenantRow, table=True):
    """A customer session; its token is the credential with the same id.

    `recipient` is the digest, as in `portal_codes`, of the address to which the code that opened it was sent.
    """

    __tablename__ = "customer_sessions"
    __table_args__ = (
        references("customer_id", "customers"),
        references("member_id", "members"),
        Index("ix_customer_sessions_customer", "workspace_id", "customer_id"),
        Index("ix_customer_sessions_expires_at", "expires_at"),
    )

    modified_at: datetime | None = Field(default=None, sa_type=MomentColumn)
    customer_id: UUID
    member_id: UUID | None = None
    return_url: str | None = None
    recipient: str | None = None
    expires_at: datetime = Field(sa_type=MomentColumn)
