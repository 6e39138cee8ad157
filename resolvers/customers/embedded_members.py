"""Members by their customer: how a customer embeds them and how they lose their ways in."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from resolvers.operations.access import visible
from resolvers.operations.context import Context
from schema.members import Member
from storage.clock import now
from storage.rows import every_of, table_of, update_rows, values_of
from storage.tables.credentials import CredentialRow
from storage.tables.customers import CustomerRow, MemberRow
from storage.tables.portal_codes import PortalCodeRow

CustomerKey = tuple[UUID, UUID]

_members, _credentials = table_of(MemberRow), table_of(CredentialRow)
_codes = table_of(PortalCodeRow)


async def load_members(ctx: Context, keys: Sequence[CustomerKey]) -> list[list[Member]]:
    """The members of these customers, each a pair of workspace and id, the oldest first."""
    statement = (
        select(_members)
        .where(visible(MemberRow, ctx.principal), of_customers(keys))
        .order_by(_members.c.created_at, _members.c.id)
    )
    members: dict[CustomerKey, list[Member]] = defaultdict(list)
    async with ctx.read() as connection:
        for row in await every_of(connection, MemberRow, statement):
            members[row.workspace_id, row.customer_id].append(Member.model_validate(values_of(row)))
    return [members[key] for key in keys]


def of_customers(keys: Sequence[CustomerKey]) -> ColumnElement[bool]:
    """The members of these customers."""
    return and_(
        _members.c.workspace_id.in_({workspace_id for workspace_id, _ in keys}),
        _members.c.customer_id.in_([customer_id for _, customer_id in keys]),
    )


async def end_sessions(
    connection: AsyncConnection, customer: CustomerRow, member_id: UUID | None = None
) -> None:
    """Revoke the tokens of a customer's sessions and its mailed codes, or of one member's only."""
    theirs = and_(
        _credentials.c.workspace_id == customer.workspace_id,
        _credentials.c.customer_id == customer.id,
        _credentials.c.revoked_at.is_(None),
    )
    if member_id is not None:
        theirs = and_(theirs, _credentials.c.member_id == member_id)
    await update_rows(connection, CredentialRow, theirs, revoked_at=now())
    codes = and_(_codes.c.workspace_id == customer.workspace_id, _codes.c.customer_id == customer.id)
    if member_id is not None:
        codes = and_(codes, _codes.c.member_id == member_id)
    await connection.execute(delete(_codes).where(codes))
