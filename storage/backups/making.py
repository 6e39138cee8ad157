"""Making a backup beside gateways that write.

Files are copied first, because that takes longest, then the database, then the files that are new in it. So
every row has its file: one that was deleted after the first step is in the copy already, and if a new one was
deleted between the last steps, the database is copied again.
"""

import os
from collections.abc import Callable
from pathlib import Path

from storage.backups.databases import copy_database
from storage.backups.files import sum_of
from storage.backups.manifest import DATABASE, OBJECTS, BackupRefused, write_sums
from storage.backups.objects import ObjectCopies, stored_objects
from storage.objects.local import OBJECTS_DIRECTORY

_MOST_ROUNDS = 10

# What is copied, how much of it, and how much there is.
Progress = Callable[[str, int, int], None]


def copy_all(
    database: Path, store: Path | None, directory: Path, progress: Progress
) -> tuple[ObjectCopies, list[str]]:
    """Copy the database and the objects of a local store; returns these, and the paths without an object.

    Raises `BackupRefused`.
    """
    copies = ObjectCopies((store or directory) / OBJECTS_DIRECTORY, directory / OBJECTS)
    if store is not None:
        live = list(stored_objects(database))
        for number, stored in enumerate(live, 1):
            copies.add(stored)
            progress("Files", number, len(live))
    for _ in range(_MOST_ROUNDS):
        copy_database(database, directory / DATABASE, lambda done, total: progress("Database", done, total))
        if store is None:
            return copies, []
        missing, deleted = _complete(copies, database, directory / DATABASE)
        if not deleted:
            return copies, missing
    raise BackupRefused("Files are deleted faster than they are copied: try again at a quieter time.")


def _complete(copies: ObjectCopies, live: Path, copy: Path) -> tuple[list[str], bool]:
    """Copy what the copied rows refer to; the paths that the store lacks, and whether rows have gone since.

    A file's row is deleted before its object, so a lost object is one whose row still exists.
    """
    referred = list(stored_objects(copy))
    missing = [stored.path for stored in referred if not copies.add(stored)]
    copies.drop(copies.sums.keys() - {stored.path for stored in referred})
    still_there = {stored.path for stored in stored_objects(live)} if missing else set()
    return missing, not still_there.issuperset(missing)


def finish_files(directory: Path, copies: ObjectCopies) -> str:
    """Write the list of sums and everything to the disk; returns the sum of the list."""
    sums = {f"{OBJECTS}/{path}": sum for path, sum in sorted(copies.sums.items())}
    total = write_sums(directory, {DATABASE: sum_of(directory / DATABASE), **sums})
    os.sync()
    return total
