"""Operations on downloads in file-share sessions."""

from uuid import UUID

from oauth.scopes import Scope
from resolvers.file_shares.filters import report_filters
from resolvers.file_shares.shapes import DOWNLOAD
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces
from resolvers.operations.rows.reading import read_one, read_page
from schema.file_shares.downloads import FileShareDownload, FileShareDownloadQuery
from schema.file_shares.reports import FileShareReportSorting
from schema.kit.pages import Page
from storage.rows.rows import table_of
from storage.tables.shares.file_share_sessions import FileShareDownloadRow

LISTING = Listing(
    FileShareDownloadRow,
    FileShareReportSorting,
    default="-at",
    columns={"modified_at": table_of(FileShareDownloadRow).c.created_at},
    query=FileShareDownloadQuery,
    filters=report_filters(table_of(FileShareDownloadRow)),
)


@requires(Scope.FILE_SHARE_SESSIONS_READ)
async def list_file_share_downloads(ctx: Context, filters: FileShareDownloadQuery) -> Page[FileShareDownload]:
    """Lists downloads, latest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, DOWNLOAD, filters)


@requires(Scope.FILE_SHARE_SESSIONS_READ)
async def get_file_share_download(ctx: Context, id: UUID) -> FileShareDownload:
    """Returns a download in a file-share session."""
    return await read_one(ctx, FileShareDownloadRow, DOWNLOAD, id=id)
