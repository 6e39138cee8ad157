"""Loaders of the links from and to file-share sessions, in batches."""

from collections.abc import Sequence

from resolvers.customers.shapes import CUSTOMER_WITHOUT_MEMBERS
from resolvers.file_shares import downloads, payments, refunds, sessions
from resolvers.file_shares.shapes import DOWNLOAD, PAYMENT, REFUND, SESSION
from resolvers.operations.context import Context
from resolvers.operations.rows.links import ToMany, ToOne
from resolvers.operations.rows.reading import read_by_keys
from resolvers.operations.shapes.shaped import as_model
from resolvers.shares.shapes import SHARE
from schema.customers.customers import Customer
from schema.file_shares.downloads import (
    FileShareDownloadQuery,
)
from schema.file_shares.payments import (
    FileSharePaymentQuery,
    FileShareRefundQuery,
)
from schema.file_shares.sessions import FileShareSession, FileShareSessionQuery
from schema.kit.links import RowKey
from schema.shares.shares import Share
from storage.tables.customers.customers import CustomerRow
from storage.tables.shares.file_share_sessions import FileShareSessionRow
from storage.tables.shares.shares import ShareRow


async def load_shares(ctx: Context, keys: Sequence[RowKey]) -> list[Share | None]:
    """The visible share of each key; None without one."""
    shares = await read_by_keys(ctx, ctx.fetch, ShareRow, SHARE, keys)
    return [as_model(shares.get(key)) for key in keys]


async def load_customers(ctx: Context, keys: Sequence[RowKey]) -> list[Customer | None]:
    """The visible customer of each key; None if it is deleted."""
    customers = await read_by_keys(ctx, ctx.fetch, CustomerRow, CUSTOMER_WITHOUT_MEMBERS, keys)
    return [as_model(customers.get(key)) for key in keys]


async def load_file_share_sessions(ctx: Context, keys: Sequence[RowKey]) -> list[FileShareSession | None]:
    """The visible session of each key; None without one."""
    found = await read_by_keys(ctx, ctx.fetch, FileShareSessionRow, SESSION, keys)
    return [as_model(found.get(key)) for key in keys]


SHARE_OF_SESSION = ToOne(ShareRow, SHARE, "share_id")
CUSTOMER_OF_SESSION = ToOne(CustomerRow, CUSTOMER_WITHOUT_MEMBERS, "customer_id")
SESSION_OF_REPORT = ToOne(FileShareSessionRow, SESSION, "file_share_session_id")
SESSIONS_OF_CUSTOMER = ToMany(
    sessions.LISTING,
    SESSION,
    "customer_id",
    lambda key, limit, page: FileShareSessionQuery(customer_id=[key], limit=limit, page=page),
)
DOWNLOADS = ToMany(
    downloads.LISTING,
    DOWNLOAD,
    "file_share_session_id",
    lambda key, limit, page: FileShareDownloadQuery(file_share_session_id=[key], limit=limit, page=page),
)
PAYMENTS = ToMany(
    payments.LISTING,
    PAYMENT,
    "file_share_session_id",
    lambda key, limit, page: FileSharePaymentQuery(file_share_session_id=[key], limit=limit, page=page),
)
REFUNDS = ToMany(
    refunds.LISTING,
    REFUND,
    "file_share_session_id",
    lambda key, limit, page: FileShareRefundQuery(file_share_session_id=[key], limit=limit, page=page),
)
