"""Customers as the API returns them, and the lookup of a customer by either of its ids."""

from typing import Any
from uuid import UUID

from sqlalchemy import select

from resolvers.operations.context import Context
from resolvers.operations.rows.access import visible
from schema.customers.addresses import BillingAddress
from schema.errors import Invalid, problem
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow

_customers = table_of(CustomerRow)


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
