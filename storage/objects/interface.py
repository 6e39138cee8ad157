"""The interface of object stores: uploads in parts by signed URLs, signed downloads, and errors.

    StoreError
    ├── PartsRefused      parts are missing or differ from what was declared; the upload can continue
    ├── UploadUnknown     no such upload at that path: completed, aborted or never begun
    ├── ObjectMissing     no object is stored at the path
    ├── PathRefused       no object can have this path
    ├── UrlRefused        the signed URL has expired or was altered
    └── StoreUnavailable  the disk or the service behind the store failed

ETags are in double quotes, as in HTTP. A part's ETag is the hex MD5 of its bytes; an object's is the hex MD5
of its parts' MD5 digests, a hyphen and the number of parts, as S3 computes it. Comparisons ignore the
quotes, because many clients strip them.
"""

from collections.abc import AsyncGenerator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Protocol


class StoreError(Exception):
    """Any failure of an object store; the message may be shown to callers of the API."""


class PartFault(StrEnum):
    """How a part differs from what was declared."""

    missing = "missing"
    repeated = "repeated"
    size = "size"
    etag = "etag"
    checksum = "checksum"


@dataclass(frozen=True)
class PartProblem:
    """One fault of one part; `message` names the part and the difference."""

    number: int
    fault: PartFault
    message: str


class PartsRefused(StoreError):
    """One or more parts are missing or differ. Nothing was changed; `problems` is ordered by number."""

    def __init__(self, problems: Sequence[PartProblem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)


class UploadUnknown(StoreError):
    """No open upload at this path has this id."""

    def __init__(self) -> None:
        super().__init__("no open upload at this path has this id")


class ObjectMissing(StoreError):
    """No object is stored at the path."""

    def __init__(self, path: str) -> None:
        super().__init__(f"no object is stored at {path}")


class PathRefused(StoreError):
    """The path is empty, absolute, leads upwards, or has a segment that not every store can hold."""

    def __init__(self) -> None:
        super().__init__("the path must be segments of 1 to 255 bytes, joined by /, none of which is . or ..")


class UrlRefused(StoreError):
    """A signed URL that is invalid or has expired; `expired` is True only for a genuine one."""

    def __init__(self, message: str, *, expired: bool = False) -> None:
        super().__init__(message)
        self.expired = expired


class StoreUnavailable(StoreError):
    """The store itself failed (disk full, no permission, no connection); a later retry may succeed."""


@dataclass(frozen=True)
class SignedRequest:
    """A request that needs no credential: send all `headers` before `expires_at` (UTC, whole seconds)."""

    url: str
    headers: dict[str, str]
    expires_at: datetime


@dataclass(frozen=True)
class StoredPart:
    """A part that was received. The checksum is None only if the store keeps none."""

    number: int
    size: int
    etag: str
    checksum_sha256_base64: str | None


@dataclass(frozen=True)
class PartReference:
    """A part as the upload requires it; without a checksum, only size and ETag are compared."""

    number: int
    size: int
    etag: str
    checksum_sha256_base64: str | None = None


class OpenUpload(NamedTuple):
    """An upload by its id in the store and the path of its object."""

    upload_id: str
    path: str


@dataclass(frozen=True)
class StoredObject:
    """A completed upload.

    Its SHA-256 is known if it has a single part, in some stores only if it was declared; `version` if the
    store keeps versions.
    """

    size: int
    etag: str
    checksum_sha256_base64: str | None
    version: str | None


class ObjectContent(Protocol):
    """A readable object. `etag` serves to resume a download; it may differ from the upload's."""

    @property
    def size(self) -> int: ...

    @property
    def etag(self) -> str: ...

    def read(self, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """The bytes from `start` to `end` (exclusive; default: all), in chunks."""


class ObjectStore(Protocol):
    """Objects by path, written by multipart uploads. Every method may raise `StoreUnavailable`."""

    async def begin(self, path: str, mime_type: str, *, checksums: bool) -> str:
        """Open an upload and return its id. Raises `PathRefused`.

        With `checksums` every part declares its SHA-256, otherwise none does: S3 has to know beforehand.
        """

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
        """A PUT of exactly `size` bytes, with exactly this SHA-256 if there is one.

        Putting a part again replaces it. Does not check that the upload is open.
        """

    async def list_parts(self, upload_id: str, path: str) -> list[StoredPart]:
        """The parts received completely, by number. Raises `UploadUnknown`."""

    async def complete(self, upload_id: str, path: str, parts: Sequence[PartReference]) -> StoredObject:
        """Join the parts, in order of their numbers, into the object. The object appears whole or not at all.

        Received parts without a reference are dropped. Repeating the call with the same parts after success
        returns the same object, so a caller that crashed before it recorded the success can retry. Raises
        `PartsRefused` with every faulty part, after which the upload can continue, and `UploadUnknown`.
        """

    async def abort(self, upload_id: str, path: str) -> None:
        """Drop the upload and its parts; does nothing for an unknown upload."""

    async def delete(self, path: str) -> None:
        """Remove the object; does nothing if it is missing. Raises `PathRefused`."""

    async def sign_download(
        self, path: str, file_name: str, mime_type: str, expires_in: timedelta, *, attachment: bool
    ) -> SignedRequest:
        """A GET that is answered with this type and file name, to be saved (`attachment`) or shown."""

    async def read_start(self, path: str, size: int) -> bytes:
        """The object's first bytes, `size` at most. Raises `ObjectMissing`, `PathRefused`."""

    async def open_object(self, path: str) -> ObjectContent:
        """The object, readable in chunks. Raises `ObjectMissing`, `PathRefused`."""

    async def drop_uploads(self, begun_before: datetime, keep: Set[OpenUpload]) -> int:
        """Abort uploads begun, or last used, before this moment, except those to `keep`; returns how many."""

    async def close(self) -> None:
        """Close connections; the store cannot be used afterwards."""

    async def check(self) -> None:
        """Raise `StoreUnavailable` unless objects can be written now."""
