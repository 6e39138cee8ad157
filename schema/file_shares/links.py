"""The links of sessions, and of what happened in them, to the share and the customer."""

from typing import TYPE_CHECKING
from uuid import UUID

import strawberry

from oauth.scopes import Scope
from schema.customers.customers import Customer
from schema.kit.base import Output
from schema.kit.links import RowKey, link, load
from schema.shares.shares import Share


class OfShareAndCustomer(Output):
    """What has a session's share and customer; the fields with their ids are its own."""

    if TYPE_CHECKING:
        workspace_id: UUID
        share_id: UUID | None
        customer_id: UUID | None

    @link(Scope.SHARES_READ)
    async def share(self, info: strawberry.Info) -> Share | None:
        """The share of the session."""
        if self.share_id is None:
            return None
        share: Share | None = await load(info, "share", RowKey(self.workspace_id, self.share_id))
        return share

    @link(Scope.CUSTOMERS_READ)
    async def customer(self, info: strawberry.Info) -> Customer | None:
        """The customer of the session; null if deleted."""
        if self.customer_id is None:
            return None
        customer: Customer | None = await load(info, "customer", RowKey(self.workspace_id, self.customer_id))
        return customer
