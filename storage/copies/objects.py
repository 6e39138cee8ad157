"""The uploaded files of a backup: exactly those that the rows of its database refer to."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from pathlib import Path
from typing import NamedTuple

from storage.copies.sqlite_files import open_file
from storage.objects.disk import make_directories, resolve_below

_CHUNK_BYTES = 1024 * 1024
_ROWS_AT_A_TIME = 500
_UPLOADED = "SELECT path, size, checksum_sha256_hex FROM files WHERE is_uploaded ORDER BY path"


class Stored(NamedTuple):
    """What a row says about its object; the checksum of an upload in several parts is unknown."""

    path: str
    size: int
    sha256: str | None


def stored_objects(database: Path) -> Iterator[Stored]:
    """What the database's rows of completed uploads say."""
    with closing(open_file(database)) as connection:
        cursor = connection.execute(_UPLOADED)
        while some := cursor.fetchmany(_ROWS_AT_A_TIME):
            yield from (Stored(*row) for row in some)


def sum_of(source: Path, target: Path | None = None) -> str:
    """The SHA-256 of a file, which is copied to `target` meanwhile. Raises `FileNotFoundError`."""
    with source.open("rb") as read:
        if target is None:
            return file_digest(read, "sha256").hexdigest()
        digest = sha256()
        make_directories(target.parent)
        with target.open("wb") as written:
            while chunk := read.read(_CHUNK_BYTES):
                digest.update(chunk)
                written.write(chunk)
    return digest.hexdigest()


@dataclass
class ObjectCopies:
    """The objects of a store that were copied to a directory so far; `sums` has their SHA-256 by path."""

    store: Path
    directory: Path
    sums: dict[str, str] = field(default_factory=dict)
    damaged: set[str] = field(default_factory=set)

    def add(self, stored: Stored) -> bool:
        """Copy the object unless that is done; False if the store does not have it."""
        if stored.path in self.sums:
            return True
        copy = resolve_below(self.directory, stored.path)
        try:
            sum = sum_of(resolve_below(self.store, stored.path), copy)
        except (FileNotFoundError, NotADirectoryError):
            return False
        self.sums[stored.path] = sum
        if copy.stat().st_size != stored.size or stored.sha256 not in {None, sum}:
            self.damaged.add(stored.path)
        return True

    def drop(self, paths: set[str]) -> None:
        """Remove copies of objects that no row refers to any more."""
        for path in paths:
            resolve_below(self.directory, path).unlink()
            del self.sums[path]
            self.damaged.discard(path)
