"""Customers as the API returns them, and the lookup of a customer by either of its ids."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from sqlalchemy import select

from resolvers.operations.access import visible
from resolvers.operations.context import Context
from schema.addresses import BillingAddress
from schema.customers import Customer
from schema.errors import Invalid, problem
from schema.members import Member
from storage.rows import table_of, values_of
from storage.tables.customers import CustomerRow

_customers = table_of(CustomerRow)


def customer_of(row: CustomerRow, members: Sequence[Member] | None = None) -> Customer:
    """The customer of a row; without `members` REST leaves them out and GraphQL loads them."""
    return Customer.model_validate({**profile_of(row), "members": members})


def profile_of(row: CustomerRow) -> dict[str, Any]:
    """The row's values with the derived ones."""
    address = sha256(row.email.strip().lower().encode()).hexdigest()
    return {**values_of(row), "avatar_url": f"https://www.gravatar.com/avatar/{address}"}


def complete_address(sent: dict[str, Any] | None) -> dict[str, Any]:
    """A billing address as it is stored, with every field."""
    return BillingAddress.model_validate(sent or {}).model_dump()


async def identify(ctx: Context, id: UUID | None, external_id: str | None) -> dict[str, Any]:
    """The column and value by which to find the customer.

    Raises `Invalid` unless the caller sends exactly one of the ids, and if customers in several of the
    caller's workspaces have the external id.
    """
    if (id is None) == (external_id is None):
        message = "Name the customer by either `id` or `external_id`"
        raise Invalid([problem(("id",), message, "one_of")])
    if id is not None:
        return {"id": id}
    if ctx.principal.workspace_id is None:
        same = _customers.c.external_id == external_id
        statement = select(_customers.c.id).where(visible(CustomerRow, ctx.principal), same).limit(2)
        async with ctx.read() as connection:
            ids = (await connection.execute(statement)).all()
        if len(ids) > 1:
            message = "Several of your workspaces have a customer with this external id: name it by `id`"
            raise Invalid([problem(("external_id",), message, "ambiguous", input=external_id)])
    return {"external_id": external_id}
