"""What `duograph backup` and `duograph restore` do."""

import sqlite3
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

import typer

from gateway.cli.kit.database import reached, read_settings, wait_for
from gateway.cli.kit.output import CommandError, sheet, show
from gateway.cli.kit.progress import reporting
from gateway.settings.settings import Settings
from storage.copies.backup import make_backup
from storage.copies.manifest import Manifest, read_manifest
from storage.copies.restore import check_backup, restore_backup
from storage.migrations.revisions import COMMIT_OF_OLDEST, current_revision, is_known, is_newer
from storage.sealing import Purpose, is_signed, sign


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
    advice = "DUOGRAPH_SECRET_KEY is not in the backup, which is of little use without it: keep it elsewhere."
    if not manifest.has_objects:
        advice = f"{advice} Back up {manifest.object_place} too."
    faults = {"missing": manifest.missing, "damaged": manifest.damaged}
    show({**result, **faults}, f"Made {directory}.\n{sheet(result)}\n{advice}", as_json=as_json)
    if paths := [*manifest.missing, *manifest.damaged]:
        raise CommandError(
            f"The backup was made, but files are missing from the object store or damaged ({len(paths)}), "
            f"for example {paths[0]}: look for them in older backups."
        )


def restore(directory: Path, *, check_only: bool, as_json: bool) -> None:
    """Check, restore, and say how to go on. Raises `CommandError`."""
    try:
        manifest = read_manifest(directory)
        _check_revision(manifest)
        settings = read_settings()
        with reporting() as progress:
            if check_only:
                check_backup(directory, manifest, progress)
            else:
                restore_backup(directory, manifest, *_places(settings, manifest), progress)
    except OSError as error:
        raise CommandError(f"The backup was not restored ({error.strerror}): {error.filename}.") from None
    has_secret = is_signed(settings.secret(), Purpose.BACKUP, manifest.secret, manifest.id)
    result = {
        "rows": sum(manifest.rows.values()),
        "objects": manifest.objects,
        "created_at": manifest.created_at,
        "revision": manifest.revision,
        "has_secret": has_secret,
    }
    done = "The backup is complete and unchanged" if check_only else "Restored"
    text = f"{done}: {result['rows']} rows and {manifest.objects} files of {manifest.created_at}."
    show(result, text, as_json=as_json)
    if not has_secret and not as_json:
        typer.echo(
            "DUOGRAPH_SECRET_KEY is not the one of the backup: set that one before you serve, or second "
            "factors and signing keys cannot be read.",
            err=True,
        )


async def _revision(settings: Settings) -> str:
    async with reached(settings) as database:
        revision = await current_revision(database)
    if revision is None:
        raise CommandError("The database has no tables yet: there is nothing to back up.")
    return revision


def _make(settings: Settings, database: Path, directory: Path, revision: str) -> Manifest:
    id, store = uuid4().hex, settings.object_directory
    with reporting() as progress:
        return make_backup(
            database,
            store,
            directory,
            progress,
            id,
            version=version("duograph"),
            revision=revision,
            secret=sign(settings.secret(), Purpose.BACKUP, id),
            object_place=settings.object_store if store is None else "local",
        )


def _check_revision(manifest: Manifest) -> None:
    if is_newer(manifest.revision):
        raise CommandError(f"A newer version, {manifest.version}, made the backup: install that version.")
    if not is_known(manifest.revision):
        raise CommandError(
            f"The backup is at revision {manifest.revision}, which this version does not upgrade: restore it "
            f"with commit {COMMIT_OF_OLDEST}, and run its `duograph migrate` first."
        )


def _places(settings: Settings, manifest: Manifest) -> tuple[Path, Path | None]:
    """The database file and the directory of the local object store. Raises `CommandError`."""
    store = settings.object_directory
    if settings.sqlite_path is None:
        raise CommandError("This is a backup of SQLite: set DUOGRAPH_DATABASE_URL to sqlite:///PATH.")
    if manifest.has_objects and store is None:
        raise CommandError("The backup has files: set DUOGRAPH_OBJECT_STORE to a directory.")
    if not manifest.has_objects and settings.object_store != manifest.object_place:
        raise CommandError(
            f"The files of the backup are in {manifest.object_place}: set DUOGRAPH_OBJECT_STORE to it."
        )
    return settings.sqlite_path, store
