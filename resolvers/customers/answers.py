"""Customers as rows become answers, and how a caller names one."""

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
    """The row with what follows from it."""
    address = sha256(row.email.strip().lower().encode()).hexdigest()
    return {**values_of(row), "avatar_url": f"https://www.gravatar.com/avatar/{address}"}


def complete_address(sent: dict[str, Any] | None) -> dict[str, Any]:
    """A billing address as it is kept: with every field."""
    return BillingAddress.model_validate(sent or {}).model_dump()


async def identify(ctx: Context, id: UUID | None, external_id: str | None) -> dict[str, Any]:
    """The columns and values that find the customer that a caller names.

    Raises `Invalid` unless it is named by just one of its ids, and where an external id is one
    customer's in several of the caller's workspaces.
    """
    if (id is None) == (external_id is None):
        message = "Name the customer by `id` or by `external_id`, one of them"
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
