"""Loaders of the links from and to file-share sessions, in batches."""

from collections.abc import Sequence
from uuid import UUID

from resolvers.customers.shapes import CUSTOMER_WITHOUT_MEMBERS
from resolvers.file_shares.sessions import LISTING
from resolvers.file_shares.shapes import SESSION
from resolvers.operations.context import Context
from resolvers.operations.linked_pages import LinkedList, load_pages
from resolvers.operations.reading import read_by_keys
from resolvers.operations.shaped import as_model
from resolvers.shares.shapes import SHARE
from schema.customers import Customer
from schema.file_share_sessions import FileShareSession, FileShareSessionPage, FileShareSessionQuery
from schema.links import PageKey, RowKey
from schema.shares import Share
from storage.rows import table_of
from storage.tables.customers import CustomerRow
from storage.tables.file_share_sessions import FileShareSessionRow
from storage.tables.shares import ShareRow


async def load_shares(ctx: Context, keys: Sequence[RowKey]) -> list[Share | None]:
    """The visible share of each key; None without one."""
    async with ctx.read() as connection:
        shares = await read_by_keys(ctx, connection, ShareRow, SHARE, keys)
    return [as_model(shares.get(key)) for key in keys]


async def load_customers(ctx: Context, keys: Sequence[RowKey]) -> list[Customer | None]:
    """The visible customer of each key; None if it is deleted."""
    async with ctx.read() as connection:
        customers = await read_by_keys(ctx, connection, CustomerRow, CUSTOMER_WITHOUT_MEMBERS, keys)
    return [as_model(customers.get(key)) for key in keys]


async def load_customer_file_share_sessions(
    ctx: Context, keys: Sequence[PageKey]
) -> list[FileShareSessionPage]:
    """A page of each customer's sessions, newest first."""
    return await load_pages(ctx, _OF_CUSTOMER, keys, SESSION)


def _query(customer_id: UUID, limit: int, page: int) -> FileShareSessionQuery:
    return FileShareSessionQuery(customer_id=[customer_id], limit=limit, page=page)


_OF_CUSTOMER: LinkedList[FileShareSessionRow, FileShareSession] = LinkedList(
    LISTING, table_of(FileShareSessionRow).c.customer_id, _query
)
