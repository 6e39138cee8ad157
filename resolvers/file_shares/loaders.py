"""Loaders of the links from and to file-share sessions, in batches."""

from collections.abc import Sequence
from uuid import UUID

from resolvers.customers.answers import customer_of
from resolvers.file_shares.sessions import LISTING
from resolvers.operations.access import visible
from resolvers.operations.context import Context
from resolvers.operations.linked_pages import LinkedList, load_pages, of_keys
from resolvers.operations.lists import each
from resolvers.shares.contents import assemble_shares
from schema.customers import Customer
from schema.file_share_sessions import FileShareSession, FileShareSessionPage, FileShareSessionQuery
from schema.links import PageKey, RowKey
from schema.shares import Share
from storage.rows import every, table_of
from storage.tables.customers import CustomerRow
from storage.tables.file_share_sessions import FileShareSessionRow
from storage.tables.shares import ShareRow

_customers, _shares = table_of(CustomerRow), table_of(ShareRow)


async def load_shares(ctx: Context, keys: Sequence[RowKey]) -> list[Share | None]:
    """The visible share of each key, a workspace id and a share id; None without one."""
    requested = of_keys(_shares.c.id, keys)
    async with ctx.snapshot() as connection:
        rows = await every(connection, ShareRow, visible(ShareRow, ctx.principal), requested)
        shares = await assemble_shares(ctx, connection, rows)
    by_key = {(share.workspace_id, share.id): share for share in shares}
    return [by_key.get(key) for key in keys]


async def load_customers(ctx: Context, keys: Sequence[RowKey]) -> list[Customer | None]:
    """The visible customer of each key, a workspace id and a customer id; None if it is deleted."""
    requested = of_keys(_customers.c.id, keys)
    async with ctx.read() as connection:
        rows = await every(connection, CustomerRow, visible(CustomerRow, ctx.principal), requested)
    by_key = {(row.workspace_id, row.id): customer_of(row) for row in rows}
    return [by_key.get(key) for key in keys]


async def load_customer_file_share_sessions(
    ctx: Context, keys: Sequence[PageKey]
) -> list[FileShareSessionPage]:
    """A page of each customer's sessions, newest first."""
    return await load_pages(ctx, _OF_CUSTOMER, keys, each(FileShareSession.model_validate))


def _query(customer_id: UUID, limit: int, page: int) -> FileShareSessionQuery:
    return FileShareSessionQuery(customer_id=[customer_id], limit=limit, page=page)


_OF_CUSTOMER: LinkedList[FileShareSessionRow, FileShareSession] = LinkedList(
    LISTING, table_of(FileShareSessionRow).c.customer_id, _query
)
