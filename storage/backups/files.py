"""Copying files with their SHA-256, so that a backup holds what the sums say."""

from hashlib import sha256
from pathlib import Path

from storage.objects.disk import make_directories

_CHUNK_BYTES = 1024 * 1024


def copy_file(source: Path, target: Path) -> str:
    """Copy into a new file and return the SHA-256. Raises `FileNotFoundError` without the source."""
    digest = sha256()
    with source.open("rb") as read:
        make_directories(target.parent)
        with target.open("wb") as written:
            while chunk := read.read(_CHUNK_BYTES):
                digest.update(chunk)
                written.write(chunk)
    return digest.hexdigest()


def sum_of(file: Path) -> str:
    """The SHA-256 of a file's content. Raises `FileNotFoundError`."""
    digest = sha256()
    with file.open("rb") as read:
        while chunk := read.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
