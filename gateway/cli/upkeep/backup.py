"""What `duograph backup` does."""

import sqlite3
from importlib.metadata import version
from pathlib import Path

from gateway.cli.kit.database import reached, read_settings, wait_for
from gateway.cli.kit.output import CommandError, sheet, show
from gateway.cli.kit.progress import reporting
from gateway.settings.settings import Settings
from storage.copies.backup import make_backup
from storage.copies.manifest import Manifest
from storage.migrations.revisions import current_revision


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


async def _revision(settings: Settings) -> str:
    async with reached(settings) as database:
        revision = await current_revision(database)
    if revision is None:
        raise CommandError("The database has no tables yet: there is nothing to back up.")
    return revision


def _make(settings: Settings, database: Path, directory: Path, revision: str) -> Manifest:
    store = settings.object_directory
    with reporting() as progress:
        return make_backup(
            database,
            store,
            directory,
            progress,
            settings.secret(),
            version=version("duograph"),
            revision=revision,
            object_place=settings.object_store if store is None else "local",
        )
