"""What can be done with file-share sessions."""

from uuid import UUID

from oauth.scopes import Scope
from resolvers.file_shares.opening import (
    Opening,
    file_share_session_of,
    find_already_reported,
    open_file_share_sessions,
)
from resolvers.file_shares.steps import Step, begin, check_download, check_end, download, end
from resolvers.operations.access import check_workspaces, get_for_update, get_visible, workspace_for
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.lists import Listing, any_of, each, list_page
from schema.errors import Invalid
from schema.file_share_sessions import (
    FileShareDownloadCreate,
    FileShareSession,
    FileShareSessionCreate,
    FileShareSessionEnd,
    FileShareSessionQuery,
)
from schema.pages import Page
from schema.sorting import CreatedAtSorting
from storage.clock import now
from storage.enums import FileShareSessionStatus
from storage.metrics.facts import record_facts
from storage.rows import insert_row, table_of, update_row, values_of
from storage.tables.file_share_sessions import FileShareDownloadRow, FileShareSessionRow

_table = table_of(FileShareSessionRow)
LISTING = Listing(FileShareSessionRow, CreatedAtSorting, default="-created_at")


@requires(Scope.FILE_SHARE_SESSIONS_READ)
async def list_file_share_sessions(ctx: Context, filters: FileShareSessionQuery) -> Page[FileShareSession]:
    """File-share sessions, page by page, newest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    conditions = [
        *any_of(_table.c.workspace_id, filters.workspace_id),
        *any_of(_table.c.share_id, filters.share_id),
        *any_of(_table.c.customer_id, filters.customer_id),
        *any_of(_table.c.status, filters.status),
    ]
    return await list_page(ctx, LISTING, filters, conditions, each(FileShareSession.model_validate))


@requires(Scope.FILE_SHARE_SESSIONS_READ)
async def get_file_share_session(ctx: Context, id: UUID) -> FileShareSession:
    """One file-share session."""
    return file_share_session_of(await get_visible(ctx, FileShareSessionRow, id=id))


@requires(Scope.FILE_SHARE_SESSIONS_WRITE, gives=get_file_share_session)
async def create_file_share_session(ctx: Context, data: FileShareSessionCreate) -> FileShareSession:
    """Report that a session began; without a price, or with 0, it is free.

    With an external id that is known the session that has it is given (200) and nothing changes. An
    archived share cannot be purchased: a priced session of it is taken only as history, with `created_at`.
    """
    workspace_id = await workspace_for(ctx, data.workspace_id)
    known = await find_already_reported(ctx, FileShareSessionRow, workspace_id, data.external_id)
    if known is not None:
        return file_share_session_of(known)
    (row,), problems = await open_file_share_sessions(ctx, workspace_id, [Opening(data, ("data",))], now())
    if problems:
        raise Invalid(problems)
    session = await insert_row(ctx.connection, FileShareSessionRow, **values_of(row))
    await record_facts(ctx.connection, begin(session).facts)
    return file_share_session_of(session)


@requires(Scope.FILE_SHARE_SESSIONS_WRITE, gives=get_file_share_session)
async def record_download(ctx: Context, id: UUID, data: FileShareDownloadCreate) -> FileShareSession:
    """Report a download of a session; the first one makes it active. Gives the session.

    With an external id that is known nothing changes, and the session of that download is given (200).
    """
    session = await get_for_update(ctx, FileShareSessionRow, id=id)
    workspace_id = session.workspace_id
    known = await find_already_reported(ctx, FileShareDownloadRow, workspace_id, data.external_id)
    if known is not None:
        return await get_file_share_session(ctx, known.file_share_session_id)
    clock = now()
    at = data.at or max(clock, session.created_at)
    problems = check_download(session, at, clock, ("data", "at"))
    if problems:
        raise Invalid(problems)
    await insert_row(
        ctx.connection,
        FileShareDownloadRow,
        workspace_id=workspace_id,
        file_share_session_id=id,
        external_id=data.external_id,
        at=at,
    )
    return await _take(ctx, session, download(session, at))


@requires(Scope.FILE_SHARE_SESSIONS_WRITE, gives=get_file_share_session)
async def complete_file_share_session(ctx: Context, id: UUID, data: FileShareSessionEnd) -> FileShareSession:
    """Report that a session came to its end as it should; a second end is refused."""
    return await _end(ctx, id, data, FileShareSessionStatus.COMPLETED)


@requires(Scope.FILE_SHARE_SESSIONS_WRITE, gives=get_file_share_session)
async def expire_file_share_session(ctx: Context, id: UUID, data: FileShareSessionEnd) -> FileShareSession:
    """Report that a session ran out of time; a second end is refused."""
    return await _end(ctx, id, data, FileShareSessionStatus.EXPIRED)


async def _end(
    ctx: Context, id: UUID, data: FileShareSessionEnd, status: FileShareSessionStatus
) -> FileShareSession:
    session = await get_for_update(ctx, FileShareSessionRow, id=id)
    clock = now()
    # What was reported a little ahead of our clock still comes before an end without a moment.
    at = data.at or max(clock, session.last_download_at or session.created_at)
    problems = check_end(session, at, clock, ("data", "at"))
    if problems:
        raise Invalid(problems)
    return await _take(ctx, session, end(session, status, at))


async def _take(ctx: Context, session: FileShareSessionRow, step: Step) -> FileShareSession:
    await record_facts(ctx.connection, step.facts)
    return file_share_session_of(
        await update_row(ctx.connection, FileShareSessionRow, session, **step.changes)
    )
