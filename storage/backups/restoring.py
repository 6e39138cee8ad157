"""Restoring a backup to an empty place: nothing is used before all of it was compared with its sums."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from storage.backups.databases import check_database, rows_of
from storage.backups.files import copy_file, sum_of
from storage.backups.manifest import DATABASE, OBJECTS, BackupRefused, Manifest, read_sums
from storage.objects.disk import make_directories, move_into_place, resolve_below
from storage.objects.local import OBJECTS_DIRECTORY, UPLOADS_DIRECTORY

_PARTIAL = ".restoring"
# What SQLite would take for changes of the file next to it.
_BESIDE = ("-wal", "-shm", "-journal")

Progress = Callable[[str, int, int], None]


def check_backup(directory: Path, manifest: Manifest, progress: Progress) -> None:
    """Raises `BackupRefused` unless all files are as they were when the backup was made."""
    sums = read_sums(directory, manifest)
    for number, (path, sum) in enumerate(sums.items(), 1):
        if _sum(directory, path) != sum:
            raise _altered(path)
        progress("Files", number, len(sums))
    _check_rows(directory / DATABASE, manifest)


def restore_backup(
    directory: Path, manifest: Manifest, database: Path, store: Path | None, progress: Progress
) -> None:
    """Copy the database to a file that does not exist, and the objects to an empty store.

    The database comes last: it exists only once everything it refers to does. Raises `BackupRefused`.
    """
    _check_empty(database, store)
    sums = read_sums(directory, manifest)
    partial = database.with_name(database.name + _PARTIAL)
    try:
        copied = _copy_objects(directory, sums, store, progress)
        if _copy(directory, DATABASE, partial) != sums[DATABASE]:
            raise _altered(DATABASE)
        _check_rows(partial, manifest)
        os.sync()
        # A gateway may have been started meanwhile.
        _check_empty(database, store)
    except BaseException:
        partial.unlink(missing_ok=True)
        if store is not None:
            shutil.rmtree(store / (OBJECTS_DIRECTORY + _PARTIAL), ignore_errors=True)
        raise
    if store is not None:
        move_into_place(copied, store / OBJECTS_DIRECTORY)
        make_directories(store / UPLOADS_DIRECTORY)
    move_into_place(partial, database)


def _check_empty(database: Path, store: Path | None) -> None:
    for file in (database, *(database.with_name(database.name + each) for each in _BESIDE)):
        if file.exists():
            raise BackupRefused(f"{file} exists already: move it away, or set DUOGRAPH_DATABASE_URL.")
    objects = None if store is None else store / OBJECTS_DIRECTORY
    if objects is not None and objects.exists() and any(objects.iterdir()):
        raise BackupRefused(f"{objects} has files already: move it away, or set DUOGRAPH_OBJECT_STORE.")


def _copy_objects(directory: Path, sums: dict[str, str], store: Path | None, progress: Progress) -> Path:
    """Copy the objects beside their place and return where. Raises `BackupRefused`."""
    target = (store or directory) / (OBJECTS_DIRECTORY + _PARTIAL)
    if store is None:
        return target
    shutil.rmtree(target, ignore_errors=True)
    make_directories(target)
    objects = {path: sum for path, sum in sums.items() if path != DATABASE}
    for number, (path, sum) in enumerate(objects.items(), 1):
        if _copy(directory, path, resolve_below(target, path.removeprefix(f"{OBJECTS}/"))) != sum:
            raise _altered(path)
        progress("Files", number, len(objects))
    return target


def _copy(directory: Path, path: str, target: Path) -> str:
    try:
        return copy_file(resolve_below(directory, path), target)
    except FileNotFoundError:
        raise _altered(path) from None


def _sum(directory: Path, path: str) -> str:
    try:
        return sum_of(resolve_below(directory, path))
    except FileNotFoundError:
        raise _altered(path) from None


def _check_rows(database: Path, manifest: Manifest) -> None:
    check_database(database)
    if rows_of(database) != manifest.rows:
        raise _altered(DATABASE)


def _altered(path: str) -> BackupRefused:
    return BackupRefused(f"{path} of the backup is not as it was made: use another copy of the backup.")
