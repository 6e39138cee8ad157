"""Operations on files."""

from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

from sqlalchemy import and_, false, or_, select

from oauth.scopes import Scope
from resolvers.files.clean_up import discard_files, remove_content
from resolvers.files.contents import IMAGE_SERVICES
from resolvers.files.quota import end_upload, reserve_storage
from resolvers.files.shapes import FILE, public_url
from resolvers.files.uploads import (
    URL_LIFETIME,
    BegunUpload,
    begin_upload,
    check_new_file,
    complete_upload,
    describe_upload,
    part_values,
    store_failures,
)
from resolvers.operations.context import Context
from resolvers.operations.declaration import LARGEST_BATCH, requires
from resolvers.operations.rows.filters import any_of, changed_in
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import check_workspaces, get_for_update, get_visible, workspace_for
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.rows.searching import contains
from resolvers.operations.shapes.shaped import as_model, shaped
from schema.errors import Failure, Invalid, NotFound, problem
from schema.files.files import File, FileCreate, FileQuery, FileSorting
from schema.files.uploads import FileDownload, FileUpload, FileUploadCompletion
from schema.kit.pages import Page
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.enums import FileService
from storage.objects.interface import StoredObject
from storage.objects.names import object_path, safe_name
from storage.rows.rows import first, insert_row, insert_rows, key_of, table_of, update_row, update_rows
from storage.tables.shares.files import FilePartRow, FileRow
from storage.tables.shares.shares import ShareDownloadRow, ShareMediaRow, ShareRow
from storage.tables.workspaces.workspaces import WorkspaceRow

# 10,000 parts, each with its SHA-256, take 1.5 MB.
LARGEST_PLAN = 2 * 1024 * 1024

_table, _shares, _workspaces = table_of(FileRow), table_of(ShareRow), table_of(WorkspaceRow)
# The tables that list files of shares.
_LISTED = (table_of(ShareMediaRow), table_of(ShareDownloadRow))
LISTING = Listing(
    FileRow,
    FileSorting,
    default="-created_at",
    columns={
        "modified_at": _table.c.changed_at,
        "name": _table.c.name_folded,
    },
    query=FileQuery,
    filters={
        **changed_in(_table.c.changed_at),
        "workspace_id": any_of(_table.c.workspace_id),
        "ids": any_of(_table.c.id),
        "service": any_of(_table.c.service),
        "name": contains(_table.c.name_folded),
    },
)


@requires(Scope.FILES_READ)
async def list_files(ctx: Context, filters: FileQuery) -> Page[File]:
    """Lists files of all services, newest first unless sorted otherwise."""
    await check_workspaces(ctx, filters.workspace_id)
    return await read_page(ctx, LISTING, FILE, filters)


async def with_upload(ctx: Context, file: File) -> File:
    """The file with the state of its upload, which is read from the store outside any transaction."""
    if file.is_uploaded or not ctx.wants("upload"):
        return file
    row = await get_visible(ctx, FileRow, id=file.id)
    return file_of(ctx, row, None if row.is_uploaded else await describe_upload(ctx, row))


async def with_new_upload(ctx: Context, file: File) -> File:
    """The same for a new file. Its parts cannot have arrived yet, unless this answers a retry."""
    if ctx.outcome.replayed:
        return await with_upload(ctx, file)
    row = await get_visible(ctx, FileRow, id=file.id)
    return file_of(ctx, row, await describe_upload(ctx, row, is_new=True))


@requires(Scope.FILES_READ, finish=with_upload)
async def get_file(ctx: Context, id: UUID) -> File:
    """Returns a file; while its upload is unfinished, with the parts that arrived and URLs for the others."""
    return await read_one(ctx, FileRow, FILE, id=id)


@requires(Scope.FILES_READ, audits=True)
async def get_file_download(ctx: Context, id: UUID) -> FileDownload:
    """Returns a URL that downloads the file under its own name. It is valid for an hour."""
    row = await get_visible(ctx, FileRow, id=id)
    if not row.is_uploaded:
        raise Invalid([problem(("id",), "The file is not fully uploaded", "upload", input=str(id))])
    with store_failures():
        signed = await ctx.services.objects.sign_download(
            row.path, row.name, row.mime_type, URL_LIFETIME, attachment=True
        )
    return FileDownload.model_validate(
        {"url": signed.url, "headers": signed.headers, "expires_at": signed.expires_at}
    )


@asynccontextmanager
async def begun_upload(ctx: Context, data: FileCreate) -> AsyncIterator[BegunUpload]:
    """Begin the store's upload and yield the values that the file's row keeps.

    If the process is killed before that row is committed, no URL of a part was handed out: an empty upload
    remains, which the clean-up drops.
    """
    workspace_id = await workspace_for(ctx, data.workspace_id)
    check_new_file(ctx, data)
    id, name = uuid4(), safe_name(data.name)
    path = object_path(data.service, workspace_id, id, name)
    upload_id = await begin_upload(ctx, path, data.mime_type, part_values(data))
    begun = BegunUpload(workspace_id, id, name, path, upload_id)
    try:
        yield begun
    except Failure:
        await remove_content(ctx.services.objects, begun)
        raise
    if ctx.outcome.replayed:
        await remove_content(ctx.services.objects, begun)


@requires(
    Scope.FILES_WRITE,
    gives=get_file,
    prepare=begun_upload,
    finish=with_new_upload,
    largest_body=LARGEST_PLAN,
    causes=(ChangeKind.FILE_CREATED,),
)
async def create_file(ctx: Context, data: FileCreate) -> File:
    """Creates a file and its upload: PUT each part to its `url` with its `headers`, then complete it."""
    begun: BegunUpload = ctx.prepared
    await reserve_storage(ctx, begun.workspace_id, data.size)
    row = await insert_row(
        ctx.connection,
        FileRow,
        checksum_sha256_hex=_hex(data.checksum_sha256_base64),
        **data.model_dump(include={"service", "mime_type", "size", "version", "checksum_sha256_base64"}),
        **begun._asdict(),
    )
    owner = {"workspace_id": row.workspace_id, "file_id": row.id}
    await insert_rows(ctx.connection, FilePartRow, [{**owner, **part} for part in part_values(data)])
    return file_of(ctx, row)


@asynccontextmanager
async def joined_upload(
    ctx: Context, id: UUID, data: FileUploadCompletion
) -> AsyncIterator[StoredObject | None]:
    """Have the store join the parts and yield the object; None if the file is complete already.

    If the process is killed before the row is committed, the same completion can be repeated.
    """
    row = await get_visible(ctx, FileRow, id=id)
    if ctx.precondition is not None:
        await ctx.precondition()
    upload = {"id": row.upload_id, "path": row.path}
    wrong_fields = [name for name, value in upload.items() if getattr(data, name) != value]
    if wrong_fields:
        message = "This is not the {} of this file's upload"
        raise Invalid(problem(("data", name), message.format(name), "upload") for name in wrong_fields)
    try:
        yield None if row.is_uploaded else await complete_upload(ctx, row, data.parts)
    except Failure:
        if not await _is_gone(ctx, row):
            raise
        # The file was deleted meanwhile: the object may have been stored after its removal.
        await remove_content(ctx.services.objects, row)
        raise NotFound("There is no such file.") from None


@requires(
    Scope.FILES_WRITE,
    gives=get_file,
    prepare=joined_upload,
    largest_body=LARGEST_BATCH,
    causes=(ChangeKind.FILE_UPLOADED,),
)
async def complete_file_upload(ctx: Context, id: UUID, data: FileUploadCompletion) -> File:
    """Completes an upload with all its parts. A file that is complete already stays unchanged."""
    row = await get_for_update(ctx, FileRow, id=id)
    if row.is_uploaded:
        return file_of(ctx, row)
    await end_upload(ctx.connection, row.workspace_id)
    stored: StoredObject = ctx.prepared
    checksum = stored.checksum_sha256_base64 or row.checksum_sha256_base64
    row = await update_row(
        ctx.connection,
        FileRow,
        row,
        is_uploaded=True,
        last_modified_at=now(),
        storage_version=stored.version,
        checksum_etag=stored.etag,
        checksum_sha256_base64=checksum,
        checksum_sha256_hex=_hex(checksum),
    )
    return file_of(ctx, row)


@requires(
    Scope.FILES_WRITE,
    removes=get_file,
    causes=(ChangeKind.FILE_DELETED, ChangeKind.SHARE_UPDATED, ChangeKind.WORKSPACE_UPDATED),
)
async def delete_file(ctx: Context, id: UUID) -> UUID:
    """Deletes a file and its content, and removes it from its shares, or as the picture of its workspace."""
    row = await get_visible(ctx, FileRow, id=id)
    # Shares are locked before the file: changes of shares lock in this order too.
    with_file = or_(
        *(
            _shares.c.id.in_(
                select(listed.c.share_id).where(
                    listed.c.workspace_id == row.workspace_id, listed.c.file_id == id
                )
            )
            for listed in _LISTED
        )
    )
    own = (_shares.c.workspace_id == row.workspace_id) & with_file
    await ctx.connection.execute(select(_shares.c.id).where(own).order_by(_shares.c.id).with_for_update())
    row = await get_for_update(ctx, FileRow, id=id)
    await update_rows(ctx.connection, ShareRow, own)
    await _drop_picture(ctx, row)
    await discard_files(ctx.connection, [row])

    async def remove() -> None:
        await remove_content(ctx.services.objects, row)

    ctx.afterwards.append(remove)
    return id


def file_of(ctx: Context, row: FileRow, upload: FileUpload | None = None) -> File:
    """The file of a row; public images have a public URL."""
    file: File = as_model(shaped(ctx.services, FILE, row))
    return file.model_copy(update={"upload": upload})


async def find_public_file(ctx: Context, path: str) -> FileRow:
    """The row of the uploaded public image at this path. Raises `NotFound`."""
    try:
        service, workspace_id, file_id, _ = path.split("/")
        own = and_(_table.c.workspace_id == UUID(workspace_id), _table.c.id == UUID(file_id))
    except ValueError:
        service, own = "", false()
    if service in IMAGE_SERVICES:
        uploaded = and_(_table.c.path == path, _table.c.is_uploaded.is_(True))
        async with ctx.read() as connection:
            file = await first(connection, FileRow, own, uploaded)
        if file is not None:
            return file
    raise NotFound("There is no such public file.")


async def _drop_picture(ctx: Context, file: FileRow) -> None:
    """Leave the workspace without a picture if the file is its picture."""
    if file.service != FileService.WORKSPACE_AVATAR:
        return
    address = public_url(ctx.services, file.service, file.path)
    own = (_workspaces.c.id == file.workspace_id) & (_workspaces.c.avatar_url == address)
    await update_rows(ctx.connection, WorkspaceRow, own, avatar_url=None)


async def _is_gone(ctx: Context, row: FileRow) -> bool:
    async with ctx.read() as connection:
        return await first(connection, FileRow, key_of(FileRow, row)) is None


def _hex(checksum_base64: str | None) -> str | None:
    return None if checksum_base64 is None else b64decode(checksum_base64).hex()
