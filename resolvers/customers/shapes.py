"""The shapes of customers and their members."""

from hashlib import sha256
from typing import Any

from sqlalchemy import FromClause, Select, and_, select

from resolvers.operations.shapes.shapes import Derived, Part, Shape
from schema.customers.customers import Customer
from schema.customers.members import Member
from schema.portal.portal import PortalCustomer
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow, MemberRow

_customers, _members = table_of(CustomerRow), table_of(MemberRow)


def avatar_url(email: str) -> str:
    """The URL of the email's Gravatar image."""
    address = sha256(email.strip().lower().encode()).hexdigest()
    return f"https://www.gravatar.com/avatar/{address}"


def _members_of(customer: FromClause) -> Select[Any]:
    own = and_(_members.c.workspace_id == customer.c.workspace_id, _members.c.customer_id == customer.c.id)
    current = _members.c.deleted_at.is_(None)
    return select(_members).where(own, current).order_by(_members.c.created_at, _members.c.id)


MEMBER = Shape(Member, _members)
_AVATAR = {"avatar_url": Derived(avatar_url, (_customers.c.email,))}
CUSTOMER = Shape(Customer, _customers, {**_AVATAR, "members": Part(MEMBER, _members_of)})
# Lists, sessions and events leave the members out.
CUSTOMER_WITHOUT_MEMBERS = Shape(
    Customer, _customers, _AVATAR, omitted=frozenset({"members"}), whole=CUSTOMER
)
PORTAL_CUSTOMER = Shape(PortalCustomer, _customers, _AVATAR)
