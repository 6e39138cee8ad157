"""Making a backup beside gateways that write.

Files are copied first, because that takes longest, then the database, then the files that are new in it. So
every row has its file: one that was deleted after the first step is in the copy already, and if a new one was
deleted between the last steps, the database is copied again.
"""

import os
import shutil
from pathlib import Path
from typing import Any
from uuid import uuid4

from storage.clock import now
from storage.copies.manifest import DATABASE, OBJECTS, Manifest, write_manifest, write_sums
from storage.copies.objects import ObjectCopies, stored_objects, sum_of
from storage.copies.sqlite_files import CopyRefused, Progress, copy_database, rows_of
from storage.objects.disk import make_directories, move_into_place
from storage.objects.local import OBJECTS_DIRECTORY
from storage.sealing import Purpose, sign

_MOST_ROUNDS = 10


def make_backup(
    database: Path,
    store: Path | None,
    directory: Path,
    progress: Progress,
    secret_key: bytes,
    **about: Any,
) -> Manifest:
    """Make a backup of the database and a local store in a new directory. Raises `CopyRefused`.

    `about` are the manifest's values that its files do not tell; the secret key signs it. The directory
    exists once it is complete.
    """
    id = uuid4().hex
    # A name of its own, because another backup to the same place may be running.
    partial = directory.with_name(f"{directory.name}.{id}.partial")
    make_directories(partial)
    try:
        created_at = now().isoformat()
        copies, missing = copy_all(database, store, partial, progress)
        sums = {f"{OBJECTS}/{path}": sum for path, sum in sorted(copies.sums.items())}
        manifest = Manifest(
            id=id,
            secret=sign(secret_key, Purpose.BACKUP, id),
            created_at=created_at,
            rows=rows_of(partial / DATABASE),
            database_bytes=(partial / DATABASE).stat().st_size,
            objects=len(sums),
            object_bytes=sum(
                file.stat().st_size for file in (partial / OBJECTS).rglob("*") if file.is_file()
            ),
            missing=missing,
            damaged=sorted(copies.damaged),
            sums_sha256=write_sums(partial, {DATABASE: sum_of(partial / DATABASE), **sums}),
            **about,
        ).signed_by(secret_key)
        write_manifest(partial, manifest)
        os.sync()
        move_into_place(partial, directory)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return manifest


def copy_all(
    database: Path, store: Path | None, directory: Path, progress: Progress
) -> tuple[ObjectCopies, list[str]]:
    """Copy the database and the objects of a local store; returns these, and the paths without an object.

    Raises `CopyRefused`.
    """
    copies = ObjectCopies((store or directory) / OBJECTS_DIRECTORY, directory / OBJECTS)
    if store is not None:
        live = list(stored_objects(database))
        for number, stored in enumerate(live, 1):
            copies.add(stored)
            progress("Files", number, len(live))
    for _ in range(_MOST_ROUNDS):
        copy_database(database, directory / DATABASE, progress)
        if store is None:
            return copies, []
        missing, deleted = _complete(copies, database, directory / DATABASE)
        if not deleted:
            return copies, missing
    raise CopyRefused("Files are deleted faster than they are copied: try again at a quieter time.")


def _complete(copies: ObjectCopies, live: Path, copy: Path) -> tuple[list[str], bool]:
    """Copy what the copied rows refer to; the paths that the store lacks, and whether rows have gone since.

    A file's row is deleted before its object, so a lost object is one whose row still exists.
    """
    referred = list(stored_objects(copy))
    missing = [stored.path for stored in referred if not copies.add(stored)]
    copies.drop(copies.sums.keys() - {stored.path for stored in referred})
    still_there = {stored.path for stored in stored_objects(live)} if missing else set()
    return missing, not still_there.issuperset(missing)
