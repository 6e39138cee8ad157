"""What Duograph asks of an object store: uploads in parts by signed URLs, signed downloads, failures.

    StoreError
    ├── PartsRefused      parts are missing, or are not what was declared; the upload can go on
    ├── UploadUnknown     no such upload at that path: completed, aborted or never begun
    ├── ObjectMissing     nothing is stored at the path
    ├── PathRefused       the path is not one the store would ever make
    ├── UrlRefused        a signed URL that expired or was altered
    └── StoreUnavailable  the disk or the service behind the store failed

ETags are written as HTTP writes them, in double quotes. A part's is the hex MD5 of its bytes; an object's is
the hex MD5 of its parts' MD5 digests, a hyphen and their number, as S3 makes it. Quotes are ignored when two
ETags are compared, because many clients strip them.
"""

from collections.abc import AsyncIterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol


class StoreError(Exception):
    """Any failure of an object store; the message is fit for the caller of the API."""


class PartFault(StrEnum):
    """In what way a part is not the one that was declared."""

    missing = "missing"
    repeated = "repeated"
    size = "size"
    etag = "etag"
    checksum = "checksum"


@dataclass(frozen=True)
class PartProblem:
    """One fault of one part; `message` names the part, what was expected and what was found."""

    number: int
    fault: PartFault
    message: str


class PartsRefused(StoreError):
    """One or more parts are missing or differ. Nothing was changed; `problems` is in order of numbers."""

    def __init__(self, problems: Sequence[PartProblem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)


class UploadUnknown(StoreError):
    """No upload with this id is open at this path."""

    def __init__(self) -> None:
        super().__init__("no upload with this id is open at this path")


class ObjectMissing(StoreError):
    """Nothing is stored at the path."""

    def __init__(self, path: str) -> None:
        super().__init__(f"nothing is stored at {path}")


class PathRefused(StoreError):
    """The path is empty, absolute, climbs, or has a segment that no file system or bucket would keep."""

    def __init__(self) -> None:
        super().__init__("the path must be segments of 1 to 255 bytes joined by /, none of them . or ..")


class UrlRefused(StoreError):
    """A signed URL that is not, or no longer, good. `expired` is True only for one that was genuine."""

    def __init__(self, message: str, *, expired: bool = False) -> None:
        super().__init__(message)
        self.expired = expired


class StoreUnavailable(StoreError):
    """The store itself failed (disk full, no permission, no connection); trying again later may help."""


@dataclass(frozen=True)
class SignedRequest:
    """A request that anyone may send, with all of `headers`, until `expires_at` (UTC, whole seconds)."""

    url: str
    headers: dict[str, str]
    expires_at: datetime


@dataclass(frozen=True)
class StoredPart:
    """A part that arrived. The checksum is None only where the store keeps none."""

    number: int
    size: int
    etag: str
    checksum_sha256_base64: str | None


@dataclass(frozen=True)
class PartReference:
    """A part as it must be for the upload to complete; without a checksum, size and ETag decide."""

    number: int
    size: int
    etag: str
    checksum_sha256_base64: str | None = None


@dataclass(frozen=True)
class StoredObject:
    """A completed upload.

    Its SHA-256 is known for a single part, by some stores only if it was declared; `version` where the
    store has versions.
    """

    size: int
    etag: str
    checksum_sha256_base64: str | None
    version: str | None


class ObjectContent(Protocol):
    """An object that can be read. `etag` is for resuming a download; it may differ from the upload's."""

    @property
    def size(self) -> int: ...

    @property
    def etag(self) -> str: ...

    def read(self, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes from `start` up to and without `end` (default: all), in chunks."""


class ObjectStore(Protocol):
    """Objects by path, written by multipart uploads. Every method may raise `StoreUnavailable`."""

    async def begin(self, path: str, mime_type: str, *, checksums: bool) -> str:
        """Open an upload and give its id. `checksums` says that every part will declare its SHA-256, and else
        none will: S3 has to know beforehand. Raises `PathRefused`."""

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
        """A PUT of exactly `size` bytes, with exactly that SHA-256 where given. Putting a part again replaces
        it. Does not look whether the upload is open."""

    async def list_parts(self, upload_id: str, path: str) -> list[StoredPart]:
        """The parts that arrived whole, by number. Raises `UploadUnknown`."""

    async def complete(self, upload_id: str, path: str, parts: Sequence[PartReference]) -> StoredObject:
        """Join the parts, in order of their numbers, into the object, which appears at once or not at all.

        Parts that arrived but are not referred to are dropped. A repeat with the same parts after success
        gives the same object, so a caller that died before it noted the success can ask again. Raises
        `PartsRefused` naming every part at fault, after which the upload can go on, and `UploadUnknown`.
        """

    async def abort(self, upload_id: str, path: str) -> None:
        """Drop the upload with its parts; an unknown one is dropped already."""

    async def delete(self, path: str) -> None:
        """Remove the object; a missing one is removed already. Raises `PathRefused`."""

    async def sign_download(
        self, path: str, file_name: str, mime_type: str, expires_in: timedelta, *, attachment: bool
    ) -> SignedRequest:
        """A GET that is answered with that type and file name, to be saved (`attachment`) or shown."""

    async def read_start(self, path: str, size: int) -> bytes:
        """The object's first bytes, `size` at most. Raises `ObjectMissing`, `PathRefused`."""

    async def open_object(self, path: str) -> ObjectContent:
        """The object, to be read in chunks. Raises `ObjectMissing`, `PathRefused`."""

    async def drop_uploads(self, begun_before: datetime, known: Set[tuple[str, str]]) -> int:
        """Abort uploads that were begun, or last used, before then, but for `known` ids and paths; say how
        many."""

    async def close(self) -> None:
        """Let go of connections; the store is not used any more."""

    async def check(self) -> None:
        """Raise `StoreUnavailable` unless objects could be written now."""
