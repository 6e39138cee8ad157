"""Content that nobody needs any more: of deleted files, and of uploads that were never completed."""

from datetime import datetime, timedelta

import structlog
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from resolvers.files.quota import release_storage
from resolvers.files.uploads import BegunUpload
from resolvers.operations.context import Services
from storage.clock import now
from storage.objects.interface import ObjectStore, OpenUpload, StoreError, StoreUnavailable
from storage.rows import every_of, insert_rows, key_of, table_of
from storage.tables.files import UNFINISHED, DiscardedObjectRow, FileRow

# As long as anything that is under way when a file is deleted could go on: an address, a join of parts.
SETTLED_AFTER = timedelta(hours=1)
ROWS_AT_A_TIME = 100

log = structlog.get_logger()
_files, _discarded = table_of(FileRow), table_of(DiscardedObjectRow)


async def remove_content(objects: ObjectStore, file: FileRow | DiscardedObjectRow | BegunUpload) -> bool:
    """Drop the file's upload and its object; False, and a warning, where the store would not just now."""
    try:
        await objects.abort(file.upload_id, file.path)
        await objects.delete(file.path)
    except StoreError as error:
        log.warning("content of a deleted file is left for later", file=str(file.id), reason=_reason(error))
        return False
    return True


async def discard_files(connection: AsyncConnection, files: list[FileRow]) -> None:
    """Delete the rows, and remember for the clean-up what they leave in the store."""
    left = [
        {"workspace_id": file.workspace_id, "id": file.id, "path": file.path, "upload_id": file.upload_id}
        for file in files
    ]
    await insert_rows(connection, DiscardedObjectRow, left)
    await release_storage(connection, files)
    for file in files:
        await connection.execute(delete(_files).where(key_of(FileRow, file)))


async def drop_abandoned_uploads(services: Services, life: timedelta) -> bool:
    """Delete files that were made longer ago than `life` and never completed; True if there may be more.

    A completion that comes too late finds no file. Several processes each take other rows.
    """
    abandoned = (
        select(_files)
        .where(UNFINISHED, _files.c.created_at < now() - life)
        .order_by(_files.c.created_at)
        .limit(ROWS_AT_A_TIME)
        .with_for_update(skip_locked=True)
    )
    async with services.database.write() as connection:
        files = await every_of(connection, FileRow, abandoned)
        await discard_files(connection, files)
    if files:
        log.info("dropped uploads that were never completed", files=len(files))
    return len(files) == ROWS_AT_A_TIME


async def remove_discarded_content(services: Services, settled: datetime | None = None) -> bool:
    """Remove what files deleted before `settled` (default: an hour ago) left; True if there is more.

    It was removed when they were deleted, unless the store or the process failed. It is removed again,
    because what was under way then may have brought it back. Doing so twice, in two processes, does no harm.
    """
    due = (
        select(_discarded)
        .where(_discarded.c.created_at < (settled or now() - SETTLED_AFTER))
        .order_by(_discarded.c.created_at)
        .limit(ROWS_AT_A_TIME)
    )
    async with services.database.read() as connection:
        rows = await every_of(connection, DiscardedObjectRow, due)
    removed = []
    for row in rows:
        if not await remove_content(services.objects, row):
            break
        removed.append(row)
    if removed:
        async with services.database.write() as connection:
            for row in removed:
                await connection.execute(delete(_discarded).where(key_of(DiscardedObjectRow, row)))
    return len(removed) == ROWS_AT_A_TIME


async def drop_lost_uploads(services: Services, life: timedelta) -> bool:
    """Drop uploads that the store keeps open and no file remembers, begun longer ago than `life`.

    They are of files whose row was never committed. Theirs may be about to be, hence the age.
    """
    unfinished = select(_files.c.upload_id, _files.c.path).where(UNFINISHED)
    async with services.database.read() as connection:
        known = {OpenUpload(row.upload_id, row.path) for row in await connection.execute(unfinished)}
    try:
        dropped = await services.objects.drop_uploads(now() - life, known)
    except StoreError as error:
        log.warning("the object store could not be searched for lost uploads", reason=_reason(error))
        return False
    if dropped:
        log.info("dropped uploads that no file remembers", uploads=dropped)
    return False


def _reason(error: StoreError) -> str:
    """What may be logged: other messages hold paths, which end in the names of files."""
    return str(error) if isinstance(error, StoreUnavailable) else type(error).__name__
