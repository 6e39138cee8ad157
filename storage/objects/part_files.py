"""Parts on the disk: one file each, named by number, MD5 and SHA-256, so that one rename records a part."""

import os
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import md5, sha256
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import BinaryIO

from storage.objects.disk import move_into_place, write_all
from storage.objects.interface import PartFault, PartProblem, PartsRefused, StoredPart, UploadUnknown
from storage.objects.signing import PartClaims

PART_NAME = re.compile(r"(?P<number>\d{5,})\.(?P<md5>[0-9a-f]{32})\.(?P<sha256>[0-9a-f]{64})")


@dataclass(frozen=True)
class PartFile:
    """A part that was received completely, and its file."""

    part: StoredPart
    file: Path
    written_at: int


def part_files(upload: Path) -> dict[int, PartFile]:
    """The newest file of each part, by number, without incomplete files.

    Raises `UploadUnknown` if the upload has no directory.
    """
    newest: dict[int, PartFile] = {}
    for part_file in sorted(_all_part_files(upload), key=_age):
        newest[part_file.part.number] = part_file
    return dict(sorted(newest.items()))


def _all_part_files(upload: Path) -> Iterator[PartFile]:
    try:
        entries = list(os.scandir(upload))
    except (FileNotFoundError, NotADirectoryError):
        raise UploadUnknown from None
    for entry in entries:
        name = PART_NAME.fullmatch(entry.name)
        if name is None:
            continue
        try:
            status = entry.stat()
        except FileNotFoundError:
            continue  # a newer file replaced it after the directory was read
        part = StoredPart(
            number=int(name["number"]),
            size=status.st_size,
            etag=f'"{name["md5"]}"',
            checksum_sha256_base64=b64encode(bytes.fromhex(name["sha256"])).decode(),
        )
        yield PartFile(part, Path(entry.path), status.st_mtime_ns)


def _age(part_file: PartFile) -> tuple[int, str]:
    return part_file.written_at, part_file.file.name


class IncomingPart:
    """A part being received: its bytes go to a temporary file and through both digests.

    The methods block and run in threads. A cancelled task leaves its thread running, so `discard` may run
    during `write`; the lock keeps it from closing a descriptor in use.
    """

    def __init__(self, upload: Path, claims: PartClaims) -> None:
        self._upload = upload
        self._claims = claims
        self._temporary = upload / f"incoming-{token_hex(8)}"
        self._file: BinaryIO | None = None
        self._discarded = False
        self._lock = Lock()
        self._size = 0
        self._md5 = md5(usedforsecurity=False)
        self._sha256 = sha256()

    def open(self) -> None:
        """Create the temporary file. Raises `UploadUnknown`."""
        with self._lock:
            if self._discarded:
                return
            try:
                self._file = self._temporary.open("xb", buffering=0)
            except (FileNotFoundError, NotADirectoryError):
                raise UploadUnknown from None

    def write(self, content: bytearray) -> None:
        """Add bytes. Raises `PartsRefused` as soon as there are more than declared."""
        with self._lock:
            if self._file is None:
                return
            self._size += len(content)
            if self._size > self._claims.size:
                raise self._refused(PartFault.size, f"has more than the {self._claims.size} bytes declared")
            write_all(self._file, content)
            self._md5.update(content)
            self._sha256.update(content)

    def keep(self) -> StoredPart:
        """Store the part, replacing an earlier one.

        Raises `PartsRefused` if size or checksum differ, and `UploadUnknown` if the upload has been completed
        or aborted meanwhile.
        """
        part = StoredPart(
            number=self._claims.number,
            size=self._size,
            etag=f'"{self._md5.hexdigest()}"',
            checksum_sha256_base64=b64encode(self._sha256.digest()).decode(),
        )
        self._check(part)
        with self._lock:
            if self._file is not None:
                os.fsync(self._file.fileno())
                self._file.close()
                self._file = None
        name = f"{part.number:05d}.{self._md5.hexdigest()}.{self._sha256.hexdigest()}"
        kept = self._upload / name
        try:
            written_at = self._temporary.stat().st_mtime_ns
            move_into_place(self._temporary, kept)
        except (FileNotFoundError, NotADirectoryError):
            raise UploadUnknown from None
        self._remove_older(part.number, (written_at, name))
        return part

    def discard(self) -> None:
        """Close and remove the temporary file; does nothing after `keep`."""
        with self._lock:
            self._discarded = True
            if self._file is not None:
                self._file.close()
                self._file = None
            self._temporary.unlink(missing_ok=True)

    def _check(self, part: StoredPart) -> None:
        declared = self._claims
        if part.size != declared.size:
            raise self._refused(PartFault.size, f"has {part.size} bytes, but {declared.size} were declared")
        if declared.checksum_sha256_base64 not in {None, part.checksum_sha256_base64}:
            raise self._refused(
                PartFault.checksum,
                f"has the SHA-256 {part.checksum_sha256_base64}, "
                f"but {declared.checksum_sha256_base64} was declared",
            )

    def _refused(self, fault: PartFault, difference: str) -> PartsRefused:
        number = self._claims.number
        return PartsRefused([PartProblem(number, fault, f"part {number} {difference}")])

    def _remove_older(self, number: int, kept: tuple[int, str]) -> None:
        # Only older files, so that two simultaneous requests for one part do not remove each other's.
        for part_file in _all_part_files(self._upload):
            if part_file.part.number == number and _age(part_file) < kept:
                part_file.file.unlink(missing_ok=True)
