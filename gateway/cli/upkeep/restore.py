"""What `duograph restore` does."""

from pathlib import Path

import typer

from gateway.cli.kit.database import read_settings
from gateway.cli.kit.output import CommandError, show
from gateway.cli.kit.progress import reporting
from gateway.settings.settings import Settings
from storage.copies.manifest import MANIFEST, Manifest, altered, read_manifest
from storage.copies.restore import check_backup, restore_backup
from storage.migrations.revisions import COMMIT_OF_OLDEST, is_known, is_newer


def restore(directory: Path, *, check_only: bool, unsigned: bool, as_json: bool) -> None:
    """Check, restore, and say how to go on. Raises `CommandError`."""
    try:
        manifest = read_manifest(directory)
        _check_revision(manifest)
        settings = read_settings()
        _check_signature(manifest, settings.secret(), unsigned=unsigned)
        with reporting() as progress:
            if check_only:
                check_backup(directory, manifest, progress)
            else:
                restore_backup(directory, manifest, *_places(settings, manifest), progress)
    except OSError as error:
        raise CommandError(f"The backup was not restored ({error.strerror}): {error.filename}.") from None
    has_secret = manifest.has_secret(settings.secret())
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


def _check_signature(manifest: Manifest, secret: bytes, *, unsigned: bool) -> None:
    """Whoever can write to a backup can make its sums anew, but not its signature."""
    if unsigned or manifest.is_signed_by(secret):
        return
    if manifest.signature and manifest.has_secret(secret):
        raise altered(MANIFEST)
    reason = "was made by an earlier version, which signed none"
    if manifest.signature:
        reason = "was made with another DUOGRAPH_SECRET_KEY, so that nothing tells whether it was changed"
    raise CommandError(
        f"The backup {reason}: set the key that it was made with, or add --unsigned if nobody else could "
        "write to it."
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
