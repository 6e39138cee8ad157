"""The uploaded files of a backup: exactly those that the rows of its database refer to."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from storage.backups.files import copy_file
from storage.objects.disk import resolve_below

_ROWS_AT_A_TIME = 500
_UPLOADED = "SELECT path, size, checksum_sha256_hex FROM files WHERE is_uploaded ORDER BY path"


class Stored(NamedTuple):
    """What a row says about its object; the checksum of an upload in several parts is unknown."""

    path: str
    size: int
    sha256: str | None


def stored_objects(database: Path) -> Iterator[Stored]:
    """What the database's rows of completed uploads say."""
    uri = f"{database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=30)) as connection:
        cursor = connection.execute(_UPLOADED)
        while some := cursor.fetchmany(_ROWS_AT_A_TIME):
            yield from (Stored(*row) for row in some)


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
            sum = copy_file(resolve_below(self.store, stored.path), copy)
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
