"""The object store on a local disk: signed URLs put parts to the gateway, which joins them into files."""

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from secrets import token_hex, token_urlsafe
from stat import S_ISREG
from tempfile import TemporaryFile

from storage.objects.assembly import assemble, assembled_before
from storage.objects.disk import (
    Arguments,
    Result,
    make_directories,
    on_disk,
    open_on_disk,
    resolve_below,
    sync_directory,
)
from storage.objects.interface import (
    ObjectMissing,
    OpenUpload,
    PartReference,
    PartsRefused,
    SignedRequest,
    StoredObject,
    StoredPart,
    UploadUnknown,
)
from storage.objects.part_files import IncomingPart, part_files
from storage.objects.signing import DownloadClaims, PartClaims, SignedUrls

OBJECTS_DIRECTORY, UPLOADS_DIRECTORY = "objects", "uploads"
GATHERED_BYTES = 1024 * 1024
READ_BYTES = 256 * 1024


@dataclass(frozen=True)
class LocalContent:
    """A readable object. `etag` is that of the file, to resume a download; it is not the upload's."""

    file: Path
    size: int
    etag: str

    async def read(self, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """The bytes from `start` to `end` (exclusive; default: all), 256 KiB at a time."""
        left = (self.size if end is None else end) - start
        # A buffered file locks its own close: a cancelled reader may close it while its thread still reads.
        file = await open_on_disk(self.file, READ_BYTES)
        try:
            await on_disk(file.seek, start)
            while left > 0 and (chunk := await on_disk(file.read, min(left, READ_BYTES))):
                left -= len(chunk)
                yield chunk
        finally:
            file.close()


class LocalObjectStore:
    """Files in one directory, which several processes and hosts may share.

    `objects/` holds each object at its path; `uploads/` has a directory for each open upload, named by the
    digest of its id and path, so that it cannot lie elsewhere; `discarded/` holds files to be removed.
    `base_url` is the gateway's address for parts and objects; `secret` signs their URLs. Every change is one
    rename of a synced file, so a crash at any moment leaves the old state or the new one.
    """

    def __init__(self, directory: Path, base_url: str, secret: bytes) -> None:
        self.urls = SignedUrls(base_url, secret)
        self._objects = directory / OBJECTS_DIRECTORY
        self._uploads = directory / UPLOADS_DIRECTORY
        self._discarded = directory / "discarded"

    async def begin(self, path: str, mime_type: str, *, checksums: bool) -> str:
        """Open an upload. Ignores the type, which each signed download carries, and `checksums`."""
        self._object_file(path)
        upload_id = token_urlsafe(24)
        await on_disk(make_directories, self._upload(upload_id, path))
        return upload_id

    async def sign_part(
        self,
        upload_id: str,
        path: str,
        number: int,
        size: int,
        *,
        checksum_sha256_base64: str | None,
        expires_in: timedelta,
    ) -> SignedRequest:
        """A PUT that the gateway verifies with `urls.verify_part` and passes to `receive_part`."""
        return self.urls.sign_part(
            PartClaims(upload_id, path, number, size, checksum_sha256_base64), expires_in
        )

    async def receive_part(self, claims: PartClaims, stream: AsyncIterable[bytes]) -> StoredPart:
        """Store the content of a signed PUT, with about 1 MiB of it in memory at a time.

        Raises `PartsRefused` if size or checksum differ from the signed ones, and `UploadUnknown`. Then, as
        when the stream fails, nothing is stored and an earlier part of this number stays.
        """
        incoming = IncomingPart(self._upload(claims.upload_id, claims.path), claims)
        try:
            await on_disk(self._look_up, incoming.open)
            gathered = bytearray()
            async for chunk in stream:
                gathered += chunk
                if len(gathered) >= GATHERED_BYTES:
                    await on_disk(incoming.write, gathered)
                    gathered = bytearray()
            await on_disk(incoming.write, gathered)
            return await on_disk(self._look_up, incoming.keep)
        except BaseException:
            # Shielded, because a cancelled scope would cancel the clean-up too.
            await asyncio.shield(on_disk(incoming.discard))
            raise

    async def list_parts(self, upload_id: str, path: str) -> list[StoredPart]:
        """The parts received completely, by number. Raises `UploadUnknown`."""
        by_number = await on_disk(self._look_up, part_files, self._upload(upload_id, path))
        return [part_file.part for part_file in by_number.values()]

    async def complete(self, upload_id: str, path: str, parts: Sequence[PartReference]) -> StoredObject:
        """Join the parts: a single one is renamed; several are copied, which takes their size again."""
        upload, target = self._upload(upload_id, path), self._object_file(path)
        return await on_disk(self._look_up, self._complete, upload, target, parts)

    def _complete(self, upload: Path, target: Path, parts: Sequence[PartReference]) -> StoredObject:
        try:
            stored = assemble(upload, parts, target)
        except (PartsRefused, UploadUnknown):
            # The parts are also gone if an earlier completion got as far as its rename.
            earlier = assembled_before(parts, target)
            if earlier is None:
                raise
            stored = earlier
        self._discard(upload)
        return stored

    async def abort(self, upload_id: str, path: str) -> None:
        """Drop the upload and its parts, including those still being received."""
        await on_disk(self._discard, self._upload(upload_id, path))

    def _discard(self, upload: Path) -> None:
        # Moved away first: from then on the upload is unknown, even while parts are being written.
        self._discarded.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            upload.replace(self._discarded / token_hex(16))
            sync_directory(self._uploads)
        for leftover in self._discarded.iterdir():
            shutil.rmtree(leftover, ignore_errors=True)

    async def delete(self, path: str) -> None:
        """Remove the object and the directory of its file id; downloads in progress continue."""
        await on_disk(self._delete, self._object_file(path))

    def _delete(self, target: Path) -> None:
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            target.unlink()
        # Higher directories stay, because another object may just be renamed into them.
        with suppress(OSError):
            target.parent.rmdir()
        self._check_presence()

    async def sign_download(
        self, path: str, file_name: str, mime_type: str, expires_in: timedelta, *, attachment: bool
    ) -> SignedRequest:
        """A GET that the gateway verifies with `urls.verify_download` and answers with `open_object`."""
        self._object_file(path)
        return self.urls.sign_download(DownloadClaims(path, file_name, mime_type, attachment), expires_in)

    async def open_object(self, path: str) -> LocalContent:
        """The object, readable in chunks. Raises `ObjectMissing`, `PathRefused`."""
        return await on_disk(self._look_up, self._open_object, path)

    def _open_object(self, path: str) -> LocalContent:
        file = self._object_file(path)
        try:
            status = file.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise ObjectMissing(path) from None
        if not S_ISREG(status.st_mode):
            raise ObjectMissing(path)
        return LocalContent(file, status.st_size, f'"{status.st_mtime_ns:x}-{status.st_size:x}"')

    async def read_start(self, path: str, size: int) -> bytes:
        """The object's first bytes, `size` at most. Raises `ObjectMissing`, `PathRefused`."""
        content = await self.open_object(path)
        return b"".join([chunk async for chunk in content.read(0, min(size, content.size))])

    async def drop_uploads(self, begun_before: datetime, keep: Set[OpenUpload]) -> int:
        """Abort uploads, except those to `keep`, if their directory has not changed since this moment."""
        return await on_disk(self._drop_uploads, begun_before.timestamp(), keep)

    def _drop_uploads(self, begun_before: float, keep: Set[OpenUpload]) -> int:
        if not self._uploads.exists():
            return 0
        kept = {self._upload(*upload) for upload in keep}
        dropped = 0
        for upload in self._uploads.iterdir():
            with suppress(FileNotFoundError):  # another process has removed it
                if upload not in kept and upload.stat().st_mtime < begun_before:
                    self._discard(upload)
                    dropped += 1
        return dropped

    async def close(self) -> None:
        """Does nothing: no connections are open."""

    async def check(self) -> None:
        """Write, sync and remove a file in the directory of uploads."""
        await on_disk(self._check)

    def _check(self) -> None:
        make_directories(self._uploads)
        with TemporaryFile(dir=self._uploads) as file:
            file.write(b"writable")
            file.flush()
            os.fsync(file.fileno())

    def _look_up(
        self, work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
    ) -> Result:
        """The result of `work`; objects and uploads are missing only if the store's directory exists."""
        try:
            return work(*arguments, **named)
        except (ObjectMissing, UploadUnknown):
            self._check_presence()
            raise

    def _check_presence(self) -> None:
        # The first upload made this directory; without it, the volume is probably not mounted.
        if not self._uploads.is_dir():
            raise FileNotFoundError(errno.ENOENT, "its directory is missing")

    def _object_file(self, path: str) -> Path:
        return resolve_below(self._objects, path)

    def _upload(self, upload_id: str, path: str) -> Path:
        name = f"{upload_id}\0{path}".encode(errors="surrogatepass")
        return self._uploads / sha256(name).hexdigest()
