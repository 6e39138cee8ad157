"""The `portal_codes` table: codes emailed to customers to sign in to their portal."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlmodel import Field

from storage.tables.base import TenantRow, references
from storage.types import JsonColumn, MomentColumn


class PortalCodeRow(TenantRow, table=True):
    """A code for one address in one workspace; `tries` counts wrong codes, `visitor_tries` by visitor.

    `visitor` and the keys of `visitor_tries` are keyed digests of network addresses: those that requested the
    code and those that tried one.

    `recipient` and `hash` are keyed digests of the address and the code, which therefore cannot be read or
    guessed here. A code without a customer was never sent and is never accepted: it exists so that unknown
    addresses take the same steps as known ones.
    """

    __tablename__ = "portal_codes"
    __table_args__ = (
        references("customer_id", "customers"),
        references("member_id", "members"),
        Index("ix_portal_codes_recipient", "workspace_id", "recipient", "created_at"),
        Index("ix_portal_codes_customer", "workspace_id", "customer_id"),
        Index("ix_portal_codes_expires_at", "expires_at"),
    )

    recipient: str
    hash: str
    customer_id: UUID | None = None
    member_id: UUID | None = None
    visitor: str = ""
    tries: int = 0
    visitor_tries: dict[str, int] = Field(default_factory=dict, sa_type=JsonColumn)
    expires_at: datetime = Field(sa_type=MomentColumn)
    used_at: datetime | None = Field(default=None, sa_type=MomentColumn)
