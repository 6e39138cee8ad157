"""The links of sessions, and of what happened in them, to the share and the customer."""

from typing import TYPE_CHECKING
from uuid import UUID

from oauth.scopes import Scope
from schema.customers.customers import Customer
from schema.kit.base import Output
from schema.kit.links import link
from schema.shares.shares import Share


class OfShareAndCustomer(Output):
    """What has a session's share and customer; the fields with their ids are its own."""

    if TYPE_CHECKING:
        workspace_id: UUID
        share_id: UUID | None
        customer_id: UUID | None

    @link(Scope.SHARES_READ)
    def share(self) -> Share | None:
        """The share of the session."""

    @link(Scope.CUSTOMERS_READ)
    def customer(self) -> Customer | None:
        """The customer of the session; null if deleted."""
