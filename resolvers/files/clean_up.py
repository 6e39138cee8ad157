"""Clean-up of stored content: deleted files and uploads that were never completed."""

from datetime import datetime, timedelta
from uuid import UUID

import structlog
from sqlalchemy import delete, select

from resolvers.files.quota import release_storage
from resolvers.files.uploads import BegunUpload
from resolvers.operations.context import Services
from storage.clock import now
from storage.engine.connections import Connection
from storage.objects.interface import ObjectStore, OpenUpload, StoreError, StoreUnavailable
from storage.rows.rows import delete_row, every_of, first_of, insert_rows, key_of, table_of
from storage.tables.shares.files import UNFINISHED, DiscardedObjectRow, FileRow

# Whatever is in progress when a file is deleted has ended by then: signed URLs, joins of parts.
SETTLED_AFTER = timedelta(hours=1)
ROWS_AT_A_TIME = 100

log = structlog.get_logger()
_files, _discarded = table_of(FileRow), table_of(DiscardedObjectRow)


async def remove_content(objects: ObjectStore, file: FileRow | DiscardedObjectRow | BegunUpload) -> bool:
    """Remove the file's upload and object; False, and a warning in the log, if the store fails."""
    try:
        await objects.abort(file.upload_id, file.path)
        await objects.delete(file.path)
    except StoreError as error:
        log.warning("content of a deleted file is left for later", file=str(file.id), reason=_reason(error))
        return False
    return True


async def discard_files(connection: Connection, files: list[FileRow]) -> None:
    """Delete the rows, and note for the clean-up the content that they leave in the store."""
    await remember_content(connection, files)
    await release_storage(connection, files)
    for file in files:
        await delete_row(connection, FileRow, file)


async def remember_content(connection: Connection, files: list[FileRow]) -> None:
    """Note the content that files leave in the store, in the transaction that deletes them."""
    objects = [
        {"workspace_id": file.workspace_id, "id": file.id, "path": file.path, "upload_id": file.upload_id}
        for file in files
    ]
    await insert_rows(connection, DiscardedObjectRow, objects)


async def drop_abandoned_uploads(services: Services, life: timedelta) -> bool:
    """Delete files created longer ago than `life` and never completed; True if there may be more.

    A later completion finds no file. Processes that run at the same time lock different rows.
    """
    abandoned = (
        select(_files.c.workspace_id, _files.c.id)
        .where(UNFINISHED, _files.c.created_at < now() - life)
        .order_by(_files.c.created_at)
        .limit(ROWS_AT_A_TIME)
    )
    async with services.database.write() as connection:
        found = (await connection.execute(abandoned)).all()
        files = [file for key in found if (file := await _lock_abandoned(connection, *key)) is not None]
        await discard_files(connection, files)
    if files:
        log.info("dropped uploads that were never completed", files=len(files))
    return len(found) == ROWS_AT_A_TIME


async def _lock_abandoned(connection: Connection, workspace_id: UUID, id: UUID) -> FileRow | None:
    """The file, unless another process has it or it was completed. A lock names one workspace."""
    own = (_files.c.workspace_id == workspace_id, _files.c.id == id)
    statement = select(_files).where(*own, UNFINISHED).with_for_update(skip_locked=True)
    return await first_of(connection, FileRow, statement)


async def remove_discarded_content(services: Services, settled: datetime | None = None) -> bool:
    """Remove the content of files deleted before `settled` (default: an hour ago); True if there is more.

    Deleting a file removes its content, unless the store or the process fails. It is removed again here,
    because requests in progress at the time may have written it again. Removing it twice does no harm.
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
    """Drop open uploads of the store that belong to no file and began longer ago than `life`.

    The row of their file was never committed. The row of a younger one may still be committed, so it is kept.
    """
    unfinished = select(_files.c.upload_id, _files.c.path).where(UNFINISHED)
    async with services.database.read() as connection:
        kept_uploads = {OpenUpload(row.upload_id, row.path) for row in await connection.execute(unfinished)}
    try:
        dropped = await services.objects.drop_uploads(now() - life, kept_uploads)
    except StoreError as error:
        log.warning("the object store could not be searched for lost uploads", reason=_reason(error))
        return False
    if dropped:
        log.info("dropped uploads that no file remembers", uploads=dropped)
    return False


def _reason(error: StoreError) -> str:
    """The text to log: other messages contain paths, which end in file names."""
    return str(error) if isinstance(error, StoreUnavailable) else type(error).__name__
