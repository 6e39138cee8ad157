"""The links from and to file-share sessions."""

from resolvers.customers.shapes import CUSTOMER_WITHOUT_MEMBERS
from resolvers.file_shares import downloads, payments, refunds, sessions
from resolvers.file_shares.shapes import DOWNLOAD, PAYMENT, REFUND, SESSION
from resolvers.operations.rows.links import ToMany, ToOne
from resolvers.shares.shapes import SHARE
from schema.file_shares.downloads import (
    FileShareDownloadQuery,
)
from schema.file_shares.payments import (
    FileSharePaymentQuery,
    FileShareRefundQuery,
)
from schema.file_shares.sessions import FileShareSessionQuery
from storage.tables.customers.customers import CustomerRow
from storage.tables.shares.file_share_sessions import FileShareSessionRow
from storage.tables.shares.shares import ShareRow

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
