"""Operations on refunds of payments for file-share sessions."""

from uuid import UUID

from oauth.scopes import Scope
from resolvers.file_shares.filters import report_filters
from resolvers.file_shares.shapes import REFUND
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces
from resolvers.operations.rows.reading import read_one, read_page
from schema.file_shares.payments import FileShareRefund, FileShareRefundQuery
from schema.file_shares.reports import FileShareReportSorting
from schema.kit.pages import Page
from storage.rows.rows import table_of
from storage.tables.shares.file_share_sessions import FileShareRefundRow

LISTING = Listing(
    FileShareRefundRow,
    FileShareReportSorting,
    default="-at",
    columns={"modified_at": table_of(FileShareRefundRow).c.created_at},
    query=FileShareRefundQuery,
    filters=report_filters(table_of(FileShareRefundRow), "file_share_payment_id", "currency"),
)


@requires(Scope.FILE_SHARE_SESSIONS_READ)
async def list_file_share_refunds(ctx: Context, filters: FileShareRefundQuery) -> Page[FileShareRefund]:
    """Lists refunds, latest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, REFUND, filters)


@requires(Scope.FILE_SHARE_SESSIONS_READ)
async def get_file_share_refund(ctx: Context, id: UUID) -> FileShareRefund:
    """Returns a refund of a payment for a file-share session."""
    return await read_one(ctx, FileShareRefundRow, REFUND, id=id)
