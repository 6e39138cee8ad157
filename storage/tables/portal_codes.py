"""The `portal_codes` table: the codes that were mailed to let customers into their portal."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index
from sqlmodel import Field

from storage.tables.base import TenantRow, references
from storage.types import JsonColumn, MomentColumn


class PortalCodeRow(TenantRow, table=True):
    """A code for one address of one workspace; `tries` counts the wrong ones, `visitor_tries` by who tried.

    `visitor` and the keys of `visitor_tries` are keyed digests of network addresses: from where the code was
    asked for, and from where it was tried.

    `recipient` and `hash` are keyed digests of the address and of the code: neither can be read here or
    guessed. Without a customer nobody was mailed it, and it lets nobody in: it is there so that an unknown
    address takes the same steps as a known one.
    """

    __tablename__ = "portal_codes"
    __table_args__ = (
        references("customer_id", "customers"),
        references("member_id", "members"),
        Index("ix_portal_codes_recipient", "workspace_id", "recipient", "created_at"),
        Index("ix_portal_codes_customer", "workspace_id", "customer_id"),
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
