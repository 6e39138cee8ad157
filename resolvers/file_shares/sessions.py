"""Operations on file-share sessions."""

from datetime import datetime
from uuid import UUID

from oauth.scopes import Scope
from resolvers.file_shares.filters import counted_by_metric, subject_filters
from resolvers.file_shares.opening import (
    Opening,
    file_share_session_of,
    find_already_reported,
    open_file_share_sessions,
)
from resolvers.file_shares.shapes import SESSION
from resolvers.file_shares.steps import Step, begin, check_download, check_end, download, end, of_session
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.filters import any_of, at_or_after, before, changed_in
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces, get_for_update, workspace_for
from resolvers.operations.rows.reading import read_one, read_page
from schema.errors import Invalid
from schema.file_shares.sessions import (
    FileShareDownloadCreate,
    FileShareSession,
    FileShareSessionCreate,
    FileShareSessionEnd,
    FileShareSessionQuery,
)
from schema.kit.pages import Page
from schema.kit.sorting import ResourceSorting
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.enums import FileShareSessionStatus
from storage.metrics.facts import record_facts
from storage.rows.rows import insert_row, table_of, update_row, values_of
from storage.tables.shares.file_share_sessions import FileShareDownloadRow, FileShareSessionRow

_table = table_of(FileShareSessionRow)
_COLUMNS = ("workspace_id", "external_id", "status")
LISTING = Listing(
    FileShareSessionRow,
    ResourceSorting,
    default="-created_at",
    columns={"modified_at": _table.c.changed_at},
    query=FileShareSessionQuery,
    filters={
        **changed_in(_table.c.changed_at),
        **subject_filters(_table),
        **{name: any_of(_table.c[name]) for name in _COLUMNS},
        "currency": any_of(_table.c.price_currency),
        "metric": counted_by_metric(),
        "start_date": at_or_after(_table.c.created_at),
        "end_date": before(_table.c.created_at),
    },
)


@requires(Scope.FILE_SHARE_SESSIONS_READ)
async def list_file_share_sessions(ctx: Context, filters: FileShareSessionQuery) -> Page[FileShareSession]:
    """Lists file-share sessions, newest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, SESSION, filters)


@requires(Scope.FILE_SHARE_SESSIONS_READ)
async def get_file_share_session(ctx: Context, id: UUID) -> FileShareSession:
    """Returns a file-share session."""
    return await read_one(ctx, FileShareSessionRow, SESSION, id=id)


@requires(
    Scope.FILE_SHARE_SESSIONS_WRITE,
    gives=get_file_share_session,
    repeatable=True,
    causes=(ChangeKind.FILE_SHARE_SESSION_CREATED,),
)
async def create_file_share_session(ctx: Context, data: FileShareSessionCreate) -> FileShareSession:
    """Records the beginning of a session. Without a price, or with a price of 0, it is free.

    If a session with the external id exists, it is returned (200) and nothing changes. An archived share
    cannot be purchased: a priced session of it is accepted only as history, with `created_at`.
    """
    workspace_id = await workspace_for(ctx, data.workspace_id)
    existing = await find_already_reported(ctx, FileShareSessionRow, workspace_id, data.external_id)
    if existing is not None:
        return file_share_session_of(existing)
    (row,), problems = await open_file_share_sessions(ctx, workspace_id, [Opening(data, ("data",))], now())
    if problems:
        raise Invalid(problems)
    session = await insert_row(ctx.connection, FileShareSessionRow, **values_of(row))
    await record_facts(ctx.connection, begin(session).facts)
    return file_share_session_of(session)


@requires(
    Scope.FILE_SHARE_SESSIONS_WRITE,
    gives=get_file_share_session,
    repeatable=True,
    causes=(ChangeKind.FILE_SHARE_SESSION_DOWNLOADED,),
)
async def record_download(ctx: Context, id: UUID, data: FileShareDownloadCreate) -> FileShareSession:
    """Records a download of a session and returns the session. The first download makes it active.

    If a download with the external id exists, its session is returned (200) and nothing changes.
    """
    session = await get_for_update(ctx, FileShareSessionRow, id=id)
    workspace_id = session.workspace_id
    existing = await find_already_reported(
        ctx, FileShareDownloadRow, workspace_id, data.external_id, file_share_session_id=id
    )
    if existing is not None:
        return await get_file_share_session(ctx, existing.file_share_session_id)
    # The clock may have been set back since the session began.
    clock = now() if data.at else max(now(), session.created_at)
    at = data.at or clock
    problems = check_download(session, at, clock, ("data", "at"))
    if problems:
        raise Invalid(problems)
    return await add_download(ctx, session, at, data.external_id)


@requires(
    Scope.FILE_SHARE_SESSIONS_WRITE,
    gives=get_file_share_session,
    causes=(ChangeKind.FILE_SHARE_SESSION_COMPLETED,),
)
async def complete_file_share_session(ctx: Context, id: UUID, data: FileShareSessionEnd) -> FileShareSession:
    """Records the completion of a session. A session that has ended is refused."""
    return await _end(ctx, id, data, FileShareSessionStatus.COMPLETED)


@requires(
    Scope.FILE_SHARE_SESSIONS_WRITE,
    gives=get_file_share_session,
    causes=(ChangeKind.FILE_SHARE_SESSION_EXPIRED,),
)
async def expire_file_share_session(ctx: Context, id: UUID, data: FileShareSessionEnd) -> FileShareSession:
    """Records the expiry of a session. A session that has ended is refused."""
    return await _end(ctx, id, data, FileShareSessionStatus.EXPIRED)


async def add_download(
    ctx: Context, session: FileShareSessionRow, at: datetime, external_id: str | None = None
) -> FileShareSession:
    """Record a download of a locked session and return the session."""
    values = {"external_id": external_id, "at": at}
    await insert_row(ctx.connection, FileShareDownloadRow, **of_session(session), **values)
    return await _apply(ctx, session, download(session, at))


async def _end(
    ctx: Context, id: UUID, data: FileShareSessionEnd, status: FileShareSessionStatus
) -> FileShareSession:
    session = await get_for_update(ctx, FileShareSessionRow, id=id)
    # An end without `at` comes after downloads that were reported slightly ahead of our clock, or before our
    # clock was set back.
    clock = now() if data.at else max(now(), session.last_download_at or session.created_at)
    at = data.at or clock
    problems = check_end(session, at, clock, ("data", "at"))
    if problems:
        raise Invalid(problems)
    return await _apply(ctx, session, end(session, status, at))


async def _apply(ctx: Context, session: FileShareSessionRow, step: Step) -> FileShareSession:
    await record_facts(ctx.connection, step.facts)
    return file_share_session_of(
        await update_row(ctx.connection, FileShareSessionRow, session, **step.changes)
    )
