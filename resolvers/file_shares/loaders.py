"""What is behind the links from and to file-share sessions, in batches."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from resolvers.customers.answers import customer_of
from resolvers.file_shares.opening import session_of
from resolvers.file_shares.sessions import LISTING
from resolvers.operations.access import Row, visible
from resolvers.operations.context import Context
from resolvers.operations.linked_pages import LinkedList, PageKey, RowKey, load_pages, of_keys
from resolvers.shares.contents import assemble_shares
from schema.customers import Customer
from schema.file_share_sessions import FileShareSession, FileShareSessionPage, FileShareSessionQuery
from schema.shares import Share
from storage.rows import table_of
from storage.tables.customers import CustomerRow
from storage.tables.file_share_sessions import FileShareSessionRow
from storage.tables.shares import ShareRow

_customers, _shares = table_of(CustomerRow), table_of(ShareRow)


async def load_shares(ctx: Context, keys: Sequence[RowKey]) -> list[Share | None]:
    """The visible shares of these workspaces and ids, in their order."""
    wanted = select(_shares).where(visible(ShareRow, ctx.principal), of_keys(_shares.c.id, keys))
    async with ctx.snapshot() as connection:
        rows = [dict(row) for row in (await connection.execute(wanted)).mappings()]
        found = {
            (share.workspace_id, share.id): share for share in await assemble_shares(ctx, connection, rows)
        }
    return [found.get(key) for key in keys]


async def load_customers(ctx: Context, keys: Sequence[RowKey]) -> list[Customer | None]:
    """The visible customers of these workspaces and ids, in their order; deleted ones are None."""
    wanted = select(_customers).where(visible(CustomerRow, ctx.principal), of_keys(_customers.c.id, keys))
    async with ctx.read() as connection:
        rows = (await connection.execute(wanted)).mappings()
        found = {(row.workspace_id, row.id): customer_of(dict(row)) for row in rows}
    return [found.get(key) for key in keys]


async def load_customer_file_share_sessions(
    ctx: Context, keys: Sequence[PageKey]
) -> list[FileShareSessionPage]:
    """A page of each customer's sessions, the newest first."""

    async def assemble(_: AsyncConnection, rows: Sequence[Row]) -> list[FileShareSession]:
        return [session_of(row) for row in rows]

    return await load_pages(ctx, _OF_CUSTOMER, keys, assemble)


def _query(customer_id: UUID, limit: int, page: int) -> FileShareSessionQuery:
    return FileShareSessionQuery(customer_id=[customer_id], limit=limit, page=page)


_OF_CUSTOMER: LinkedList[FileShareSession] = LinkedList(
    LISTING, table_of(FileShareSessionRow).c.customer_id, _query
)
