"""The object store on a local disk: parts are PUT to our own gateway by signed URLs and joined into files."""

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence, Set
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
    PartReference,
    PartsRefused,
    SignedRequest,
    StoredObject,
    StoredPart,
    UploadUnknown,
)
from storage.objects.part_files import IncomingPart, part_files
from storage.objects.signing import DownloadClaims, PartClaims, SignedUrls

GATHERED_BYTES = 1024 * 1024
READ_BYTES = 256 * 1024


@dataclass(frozen=True)
class LocalContent:
    """An object that can be read. `etag` is that of the file, for resuming a download; not the upload's."""

    file: Path
    size: int
    etag: str

    async def read(self, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes from `start` up to and without `end` (default: all), 256 KiB at a time."""
        left = (self.size if end is None else end) - start
        # Locked against its own close, which a cancelled reader calls while its thread may still read.
        file = await open_on_disk(self.file, READ_BYTES)
        try:
            await on_disk(file.seek, start)
            while left > 0 and (chunk := await on_disk(file.read, min(left, READ_BYTES))):
                left -= len(chunk)
                yield chunk
        finally:
            file.close()


class LocalObjectStore:
    """Files under one directory, which several processes and hosts may share.

    `objects/` holds each object at its path; `uploads/` a directory for each open upload, named by the digest
    of its id and path, so that neither can name another place; `discarded/` what is being removed. `base_url`
    is the gateway's address for parts and objects, and `secret` signs their URLs. Every change is one rename
    of a file already synced, so a kill at any moment leaves the old state or the new one.
    """

    def __init__(self, directory: Path, base_url: str, secret: bytes) -> None:
        self.urls = SignedUrls(base_url, secret)
        self._objects = directory / "objects"
        self._uploads = directory / "uploads"
        self._discarded = directory / "discarded"

    async def begin(self, path: str, mime_type: str, *, checksums: bool) -> str:
        """Open an upload. The type is not kept, each signed download carries it; checksums need no notice."""
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
        """A PUT that the gateway verifies with `urls.verify_part` and hands to `receive_part`."""
        return self.urls.sign_part(
            PartClaims(upload_id, path, number, size, checksum_sha256_base64), expires_in
        )

    async def receive_part(self, claims: PartClaims, stream: AsyncIterable[bytes]) -> StoredPart:
        """Keep what a signed PUT brings; holds about 1 MiB of it at a time.

        Nothing is kept, and an earlier part of the number stays, when size or checksum is not the signed one
        (`PartsRefused`) or the stream fails. Raises `UploadUnknown` too.
        """
        incoming = IncomingPart(self._upload(claims.upload_id, claims.path), claims)
        try:
            await on_disk(self._look, incoming.open)
            gathered = bytearray()
            async for chunk in stream:
                gathered += chunk
                if len(gathered) >= GATHERED_BYTES:
                    await on_disk(incoming.write, gathered)
                    gathered = bytearray()
            await on_disk(incoming.write, gathered)
            return await on_disk(self._look, incoming.keep)
        except BaseException:
            # Shielded: a scope that was cancelled would cancel this too.
            await asyncio.shield(on_disk(incoming.discard))
            raise

    async def list_parts(self, upload_id: str, path: str) -> list[StoredPart]:
        """The parts that arrived whole, by number. Raises `UploadUnknown`."""
        found = await on_disk(self._look, part_files, self._upload(upload_id, path))
        return [part_file.part for part_file in found.values()]

    async def complete(self, upload_id: str, path: str, parts: Sequence[PartReference]) -> StoredObject:
        """Join the parts: one is renamed, several are copied, which needs their size on the disk again."""
        upload, target = self._upload(upload_id, path), self._object_file(path)
        return await on_disk(self._look, self._complete, upload, target, parts)

    def _complete(self, upload: Path, target: Path, parts: Sequence[PartReference]) -> StoredObject:
        try:
            stored = assemble(upload, parts, target)
        except (PartsRefused, UploadUnknown):
            # The parts are gone too when a completion was answered or killed after its rename.
            earlier = assembled_before(parts, target)
            if earlier is None:
                raise
            stored = earlier
        self._discard(upload)
        return stored

    async def abort(self, upload_id: str, path: str) -> None:
        """Drop the upload with its parts, also those still arriving."""
        await on_disk(self._discard, self._upload(upload_id, path))

    def _discard(self, upload: Path) -> None:
        # Moved away first: from then on the upload is unknown, whatever is still being written to it.
        self._discarded.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            upload.replace(self._discarded / token_hex(16))
            sync_directory(self._uploads)
        for leftover in self._discarded.iterdir():
            shutil.rmtree(leftover, ignore_errors=True)

    async def delete(self, path: str) -> None:
        """Remove the object and the directory of its file id; downloads that have begun go on."""
        await on_disk(self._delete, self._object_file(path))

    def _delete(self, target: Path) -> None:
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            target.unlink()
        # Higher directories stay: another object may be about to be renamed into them.
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
        """The object, to be read in chunks. Raises `ObjectMissing`, `PathRefused`."""
        return await on_disk(self._look, self._open_object, path)

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

    async def drop_uploads(self, begun_before: datetime, known: Set[tuple[str, str]]) -> int:
        """Abort unknown uploads in whose directory nothing has changed since then."""
        return await on_disk(self._drop_uploads, begun_before.timestamp(), known)

    def _drop_uploads(self, begun_before: float, known: Set[tuple[str, str]]) -> int:
        if not self._uploads.exists():
            return 0
        kept = {self._upload(*upload) for upload in known}
        dropped = 0
        for upload in self._uploads.iterdir():
            with suppress(FileNotFoundError):  # another process was faster
                if upload not in kept and upload.stat().st_mtime < begun_before:
                    self._discard(upload)
                    dropped += 1
        return dropped

    async def close(self) -> None:
        """Nothing is kept open."""

    async def check(self) -> None:
        """Write, sync and remove a file where uploads are kept."""
        await on_disk(self._check)

    def _check(self) -> None:
        make_directories(self._uploads)
        with TemporaryFile(dir=self._uploads) as file:
            file.write(b"writable")
            file.flush()
            os.fsync(file.fileno())

    def _look(
        self, work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
    ) -> Result:
        """What `work` finds; that it finds nothing is believed only while the store's directory is there."""
        try:
            return work(*arguments, **named)
        except (ObjectMissing, UploadUnknown):
            self._check_presence()
            raise

    def _check_presence(self) -> None:
        # A volume that is not mounted has lost nothing. The first upload made this directory.
        if not self._uploads.is_dir():
            raise FileNotFoundError(errno.ENOENT, "its directory is not there")

    def _object_file(self, path: str) -> Path:
        return resolve_below(self._objects, path)

    def _upload(self, upload_id: str, path: str) -> Path:
        named = f"{upload_id}\0{path}".encode(errors="surrogatepass")
        return self._uploads / sha256(named).hexdigest()
