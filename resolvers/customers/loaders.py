"""The members of customers, in batches."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, and_, select

from resolvers.operations.context import Context
from resolvers.operations.rows.access import visible
from schema.customers.members import Member
from schema.errors import AnswerTooLarge
from storage.rows.rows import every_of, table_of, values_of
from storage.tables.customers.customers import MemberRow

CustomerKey = tuple[UUID, UUID]

_members = table_of(MemberRow)
# Of all customers of an answer; this many make up to 8 MiB of it.
MOST_LOADED = 10_000


async def load_members(ctx: Context, keys: Sequence[CustomerKey]) -> list[list[Member]]:
    """The members of each of these customers, oldest first; a key is a workspace id and a customer id.

    Raises `AnswerTooLarge`.
    """
    statement = (
        select(_members)
        .where(visible(MemberRow, ctx.principal), of_customers(keys))
        .order_by(_members.c.created_at, _members.c.id)
        .limit(MOST_LOADED + 1)
    )
    members: dict[CustomerKey, list[Member]] = defaultdict(list)
    async with ctx.read() as connection:
        rows = await every_of(connection, MemberRow, statement)
        if len(rows) > MOST_LOADED:
            raise AnswerTooLarge
        for row in rows:
            members[row.workspace_id, row.customer_id].append(Member.model_validate(values_of(row)))
    return [members[key] for key in keys]


def of_customers(keys: Sequence[CustomerKey]) -> ColumnElement[bool]:
    """The condition that finds the members of these customers."""
    return and_(
        _members.c.workspace_id.in_({workspace_id for workspace_id, _ in keys}),
        _members.c.customer_id.in_([customer_id for _, customer_id in keys]),
    )
