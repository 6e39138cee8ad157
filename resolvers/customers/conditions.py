"""Conditions on what customers have."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, and_

from storage.rows.rows import table_of
from storage.tables.customers.customers import MemberRow

CustomerKey = tuple[UUID, UUID]

_members = table_of(MemberRow)


def of_customers(keys: Sequence[CustomerKey]) -> ColumnElement[bool]:
    """The condition that finds the members of these customers, each a workspace id and a customer id."""
    return and_(
        _members.c.workspace_id.in_({workspace_id for workspace_id, _ in keys}),
        _members.c.customer_id.in_([customer_id for _, customer_id in keys]),
    )
