"""What `duograph backup` does."""

import os
import shutil
import sqlite3
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

from gateway.cli.kit.database import reached, read_settings, wait_for
from gateway.cli.kit.output import CommandError, sheet, show
from gateway.cli.kit.progress import reporting
from gateway.settings.settings import Settings
from gateway.settings.types import S3_SCHEME
from storage.backups.databases import rows_of
from storage.backups.making import copy_all, finish_files
from storage.backups.manifest import DATABASE, OBJECTS, BackupRefused, Manifest, write_manifest
from storage.clock import now
from storage.migrations.revisions import current_revision
from storage.objects.disk import make_directories, move_into_place
from storage.sealing import Purpose, sign


def backup(directory: Path, *, as_json: bool) -> None:
    """Back up and say what was copied. Raises `CommandError`, after an incomplete backup too."""
    settings = read_settings()
    database = settings.sqlite_path
    if database is None:
        raise CommandError(
            "This command backs up SQLite only: docs/backup.md has the procedure for PostgreSQL."
        )
    revision = wait_for(_revision(settings))
    if directory.exists():
        raise CommandError(f"{directory} exists already: name a new directory.")
    try:
        manifest = _make(settings, database, directory, revision)
    except BackupRefused as refused:
        raise CommandError(str(refused)) from None
    except OSError as error:
        raise CommandError(f"The backup failed ({error.strerror}): {error.filename or directory}.") from None
    except sqlite3.Error as error:
        raise CommandError(f"The database could not be copied to {directory}: {error}.") from None
    result = {
        "directory": str(directory),
        "rows": sum(manifest.rows.values()),
        "database_bytes": manifest.database_bytes,
        "objects": manifest.objects,
        "object_bytes": manifest.object_bytes,
        "object_place": manifest.object_place,
    }
    text = [f"Made {directory}.", sheet(result), _advice(manifest)]
    faults = {"missing": manifest.missing, "damaged": manifest.damaged}
    show({**result, **faults}, "\n".join(text), as_json=as_json)
    if paths := [*manifest.missing, *manifest.damaged]:
        raise CommandError(
            f"The backup was made, but files are missing from the object store or damaged ({len(paths)}), "
            f"for example {paths[0]}: look for them in older backups."
        )


async def _revision(settings: Settings) -> str:
    async with reached(settings) as database:
        revision = await current_revision(database)
    if revision is None:
        raise CommandError("The database has no tables yet: there is nothing to back up.")
    return revision


def _make(settings: Settings, database: Path, directory: Path, revision: str) -> Manifest:
    """Make the backup beside its place, and put it there once it is complete."""
    id = uuid4().hex
    # A name of its own, because another backup to the same place may be running.
    partial = directory.with_name(f"{directory.name}.{id}.partial")
    make_directories(partial)
    is_local = not settings.object_store.startswith(S3_SCHEME)
    store = Path(settings.object_store) if is_local else None
    try:
        with reporting() as progress:
            created_at = now()
            copies, missing = copy_all(database, store, partial, progress)
        manifest = Manifest(
            id=id,
            version=version("duograph"),
            revision=revision,
            created_at=created_at.isoformat(),
            secret=sign(settings.secret(), Purpose.BACKUP, id),
            object_place="local" if is_local else settings.object_store,
            rows=rows_of(partial / DATABASE),
            database_bytes=(partial / DATABASE).stat().st_size,
            objects=len(copies.sums),
            object_bytes=_bytes_below(partial / OBJECTS),
            missing=missing,
            damaged=sorted(copies.damaged),
            sums_sha256=finish_files(partial, copies),
        )
        write_manifest(partial, manifest)
        os.sync()
        move_into_place(partial, directory)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return manifest


def _bytes_below(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


def _advice(manifest: Manifest) -> str:
    text = "DUOGRAPH_SECRET_KEY is not in the backup, which is of little use without it: keep it elsewhere."
    return text if manifest.has_objects else f"{text} Back up {manifest.object_place} too."
