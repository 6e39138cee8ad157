"""Downloads in the portal: a customer opens a file of a free or paid session."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from sqlalchemy import select

from oauth.scopes import Scope
from resolvers.file_shares.sessions import add_download
from resolvers.files.uploads import store_failures
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lookups import get_for_update, get_visible
from resolvers.portal.sessions import CUSTOMERS
from resolvers.portal.shapes import can_download, files_of, left_to_pay
from schema.errors import Invalid, NotPermitted, problem
from schema.files.uploads import FileDownload
from schema.portal.files import PortalDownloadCreate
from schema.values.prose import write_amount
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.enums import Currency, FileShareSessionStatus
from storage.objects.interface import SignedRequest
from storage.rows.rows import first_of, key_of, table_of
from storage.tables.shares.file_share_sessions import FileShareSessionRow
from storage.tables.shares.files import FileRow

_sessions, _files = table_of(FileShareSessionRow), table_of(FileRow)


@asynccontextmanager
async def signed_link(ctx: Context, id: UUID, data: PortalDownloadCreate) -> AsyncIterator[SignedRequest]:
    """Sign the link before the transaction; it is handed out once the download is recorded."""
    session = await get_visible(ctx, FileShareSessionRow, id=id)
    file = await _find_file(ctx, session, data.file_id)
    with store_failures():
        yield await ctx.services.objects.sign_download(
            file.path, file.name, file.mime_type, ctx.services.download_life, attachment=True
        )


@requires(
    Scope.CUSTOMER_PORTAL_WRITE,
    kinds=CUSTOMERS,
    prepare=signed_link,
    seals=True,
    makes_child=True,
    audits=True,
    causes=(ChangeKind.FILE_SHARE_SESSION_DOWNLOADED,),
)
async def download_portal_file(ctx: Context, id: UUID, data: PortalDownloadCreate) -> FileDownload:
    """Returns a URL for a file of one of the customer's own sessions, and records a download of the session.

    The session must be free or paid in full, and not expired. Every call records a download; requests to the
    URL, which works for a few minutes and for this file only, record none.
    """
    session = await get_for_update(ctx, FileShareSessionRow, id=id)
    await _find_file(ctx, session, data.file_id)
    await add_download(ctx, session, max(now(), session.created_at))
    signed: SignedRequest = ctx.prepared
    return FileDownload.model_validate(
        {"url": signed.url, "headers": signed.headers, "expires_at": signed.expires_at}
    )


async def _find_file(ctx: Context, session: FileShareSessionRow, file_id: UUID) -> FileRow:
    """The file, if the session gives access to it now. Raises `NotPermitted` and `Invalid`."""
    this = key_of(FileShareSessionRow, session)
    listed = files_of(_sessions).where(_files.c.id == file_id, this)
    async with ctx.read() as connection:
        left = (await connection.execute(select(left_to_pay(_sessions)).where(this))).scalar_one()
        file = await first_of(connection, FileRow, listed)
    if not can_download(session.status, left):
        raise NotPermitted(_why_closed(session, left))
    if file is None:
        message = "There is no such file in this session"
        raise Invalid([problem(("data", "file_id"), message, "not_found", input=str(file_id))])
    return file


def _why_closed(session: FileShareSessionRow, left: int) -> str:
    if session.status == FileShareSessionStatus.EXPIRED:
        return "Access to these files has expired."
    amount = write_amount(left, session.price_currency or Currency.USD)
    paid = (
        "The payments less the refunds do not reach the price"
        if session.is_converted
        else "This is not paid for"
    )
    return f"{paid}: {amount} is left to pay, so the files cannot be downloaded."
