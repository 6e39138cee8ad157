"""Restoring a backup to an empty place: nothing is used before all of it was compared with its sums."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import takewhile
from pathlib import Path

from storage.copies.manifest import DATABASE, OBJECTS, Manifest, altered, read_sums
from storage.copies.marks import own_triggers
from storage.copies.objects import sum_of
from storage.copies.sqlite_files import CopyRefused, Progress, check_database, open_file, rows_of
from storage.objects.disk import make_directories, move_into_place, resolve_below
from storage.objects.local import OBJECTS_DIRECTORY, UPLOADS_DIRECTORY

_PARTIAL = ".restoring"
# What SQLite would take for changes of the file next to it.
_BESIDE = ("", "-wal", "-shm", "-journal")


def check_backup(directory: Path, manifest: Manifest, progress: Progress) -> None:
    """Raises `CopyRefused` unless all files are as they were when the backup was made."""
    _read(directory, manifest, progress, lambda _: None)
    _check_rows(directory / DATABASE, manifest)


def restore_backup(
    directory: Path, manifest: Manifest, database: Path, store: Path | None, progress: Progress
) -> None:
    """Copy the database to a file that does not exist, and the objects to an empty store.

    The database comes last: it exists only once everything it refers to does. Raises `CopyRefused`.
    """
    _check_empty(database, store)
    partial = database.with_name(database.name + _PARTIAL)
    # Without a store, the backup has no objects.
    objects = (store or directory) / (OBJECTS_DIRECTORY + _PARTIAL)

    def place_of(path: str) -> Path:
        return partial if path == DATABASE else resolve_below(objects, path.removeprefix(f"{OBJECTS}/"))

    try:
        if store is not None:
            shutil.rmtree(objects, ignore_errors=True)
            make_directories(objects)
        _read(directory, manifest, progress, place_of)
        _check_rows(partial, manifest)
        os.sync()
        # A gateway may have been started meanwhile.
        _check_empty(database, store)
    except BaseException:
        partial.unlink(missing_ok=True)
        shutil.rmtree(objects, ignore_errors=True)
        raise
    if store is not None:
        move_into_place(objects, store / OBJECTS_DIRECTORY)
        make_directories(store / UPLOADS_DIRECTORY)
    move_into_place(partial, database)


def _read(
    directory: Path, manifest: Manifest, progress: Progress, place_of: Callable[[str], Path | None]
) -> None:
    """Compare each file with its sum, and copy it to its place if it has one."""
    sums = read_sums(directory, manifest)
    for number, (path, sum) in enumerate(sums.items(), 1):
        try:
            is_same = sum_of(_own_file(directory, path), place_of(path)) == sum
        except FileNotFoundError:
            is_same = False
        if not is_same:
            raise altered(path)
        progress("Files", number, len(sums))


def _own_file(directory: Path, path: str) -> Path:
    """The file of the backup at this path. Raises `CopyRefused` for what is no file, or others' by a link."""
    file = resolve_below(directory, path)
    below = takewhile(lambda each: each != directory, (file, *file.parents))
    if any(each.is_symlink() for each in below) or (file.exists() and not file.is_file()):
        raise altered(path)
    return file


def _check_rows(database: Path, manifest: Manifest) -> None:
    _check_definitions(database)
    check_database(database)
    if rows_of(database) != manifest.rows:
        raise altered(DATABASE)


def _check_definitions(database: Path) -> None:
    """Raises `CopyRefused` for triggers and views, which would run in the gateway, unless they are ours."""
    try:
        with closing(open_file(database)) as connection:
            rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
            foreign = sorted(name for name, sql in rows if sql not in own_triggers())
    except sqlite3.DatabaseError:
        raise altered(DATABASE) from None
    if foreign:
        raise CopyRefused(
            "The database of the backup has triggers or views that are not of Duograph, such as "
            f"{foreign[0]}: use another copy of the backup."
        )


def _check_empty(database: Path, store: Path | None) -> None:
    for file in (database.with_name(database.name + each) for each in _BESIDE):
        if file.exists():
            raise CopyRefused(f"{file} exists already: move it away, or set DUOGRAPH_DATABASE_URL.")
    objects = None if store is None else store / OBJECTS_DIRECTORY
    if objects is not None and objects.exists() and any(objects.iterdir()):
        raise CopyRefused(f"{objects} has files already: move it away, or set DUOGRAPH_OBJECT_STORE.")
