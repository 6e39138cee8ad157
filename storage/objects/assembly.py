"""Joining the parts of an upload into one file, and recognising a file joined earlier."""

import errno
import os
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import md5, sha256
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from storage.objects.disk import make_directories, move_into_place, write_all
from storage.objects.interface import PartReference, PartsRefused, StoredObject, StoredPart, UploadUnknown
from storage.objects.part_files import PartFile, part_files
from storage.objects.parts import composite_etag, part_problems

KERNEL_COPY_BYTES = 64 * 1024 * 1024
BLOCK_BYTES = 1024 * 1024


def assemble(upload: Path, references: Sequence[PartReference], target: Path) -> StoredObject:
    """Make `target` from the referenced parts by one rename; a single part is moved, several are copied.

    Raises `PartsRefused`, `UploadUnknown`.
    """
    by_number = part_files(upload)
    problems = part_problems(references, [part_file.part for part_file in by_number.values()])
    if problems:
        raise PartsRefused(problems)
    chosen = [by_number[number] for number in sorted(reference.number for reference in references)]
    make_directories(target.parent)
    try:
        if len(chosen) == 1:
            move_into_place(chosen[0].file, target)
        else:
            move_into_place(_join(upload, chosen), target)
    except FileNotFoundError:
        # Since the look-up, a newer part replaced one, or a completion or an abort removed all of them.
        left = [part_file.part for part_file in part_files(upload).values()]
        problems = part_problems(references, left)
        raise (PartsRefused(problems) if problems else UploadUnknown()) from None
    return _stored_object([part_file.part for part_file in chosen])


def assembled_before(references: Sequence[PartReference], target: Path) -> StoredObject | None:
    """The object, if `target` holds exactly these parts in order; it is read only if its size matches."""
    ordered = sorted(references, key=lambda reference: reference.number)
    try:
        with target.open("rb") as file:
            if os.fstat(file.fileno()).st_size != sum(reference.size for reference in ordered):
                return None
            parts = [_read_part(file, reference) for reference in ordered]
    except (FileNotFoundError, NotADirectoryError):
        return None
    return None if part_problems(references, parts) else _stored_object(parts)


def _stored_object(parts: Sequence[StoredPart]) -> StoredObject:
    return StoredObject(
        size=sum(part.size for part in parts),
        etag=composite_etag([part.etag for part in parts]),
        checksum_sha256_base64=parts[0].checksum_sha256_base64 if len(parts) == 1 else None,
        version=None,
    )


def _read_part(file: BinaryIO, reference: PartReference) -> StoredPart:
    etag, checksum = md5(usedforsecurity=False), sha256()
    size = 0
    for block in _blocks(file, reference.size):
        etag.update(block)
        checksum.update(block)
        size += len(block)
    digest = b64encode(checksum.digest()).decode()
    return StoredPart(reference.number, size, f'"{etag.hexdigest()}"', digest)


def _blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0 and (block := file.read(min(size, BLOCK_BYTES))):
        size -= len(block)
        yield block


def _join(upload: Path, chosen: Sequence[PartFile]) -> Path:
    joined = upload / f"joined-{token_hex(8)}"
    try:
        with joined.open("xb", buffering=0) as target:
            for part_file in chosen:
                with part_file.file.open("rb", buffering=0) as source:
                    _copy(source, target, part_file.part.size)
            if target.tell() != sum(part_file.part.size for part_file in chosen):
                raise OSError(errno.EIO, "a part shrank while it was copied")
            os.fsync(target.fileno())
    except BaseException:
        joined.unlink(missing_ok=True)
        raise
    return joined


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    """Copy inside the kernel if possible; file systems that share blocks then copy no data."""
    left = size
    try:
        while left > 0:
            copied = os.copy_file_range(source.fileno(), target.fileno(), min(left, KERNEL_COPY_BYTES))
            if copied == 0:
                break
            left -= copied
    except (AttributeError, OSError):
        # This system or file system has no such call. Both descriptors stand where the last copy ended; on a
        # full disk the loop below fails too.
        pass
    for block in _blocks(source, left):
        write_all(target, block)
