"""Backups that someone altered who can write to them, and makes their sums anew."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from storage.copies.manifest import DATABASE
from tests.support.commands.command import Command


def delete_the_credentials(backup: Path) -> None:
    with closing(sqlite3.connect(backup / DATABASE)) as connection, connection:
        connection.execute("DELETE FROM credentials")


def sums_made_anew(backup: Path, **changes: object) -> None:
    """What someone does who can write to a backup and has no key."""
    files = [file for file in sorted(backup.rglob("*")) if file.is_file() and file.parent != backup]
    lines = [
        f"{sha256(file.read_bytes()).hexdigest()}  {file.relative_to(backup)}\n"
        for file in (backup / DATABASE, *files)
    ]
    (backup / "SHA256SUMS").write_text("".join(lines))
    manifest = backup / "manifest.json"
    summed = {"sums_sha256": sha256("".join(lines).encode()).hexdigest()}
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | summed | changes))


def link_to_another_file(backup: Path) -> None:
    private = backup.parent / "private"
    private.write_text("of the operator alone")
    file = next(file for file in (backup / "objects").rglob("*") if file.is_file())
    file.unlink()
    file.symlink_to(private)


def link_to_another_folder(backup: Path) -> None:
    objects = backup / "objects"
    objects.rename(backup.parent / "moved")
    objects.symlink_to(backup.parent / "moved")


def add_a_trigger(backup: Path) -> None:
    with closing(sqlite3.connect(backup / DATABASE)) as connection, connection:
        connection.execute(
            "CREATE TRIGGER mine AFTER INSERT ON users BEGIN UPDATE workspace_members SET role = 'owner'; END"
        )


def add_a_view(backup: Path) -> None:
    with closing(sqlite3.connect(backup / DATABASE)) as connection, connection:
        connection.execute("CREATE VIEW mine AS SELECT 1")


def test_whoever_alters_a_backup_and_its_sums_lacks_the_key(source: Command, other: Command) -> None:
    source.json("backup", "--to", "copy")
    backup, changed = source.directory / "copy", other.directory / "changed"
    for unsigned in ({}, {"signature": ""}, {"signature": "", "secret": ""}):
        shutil.copytree(backup, changed)
        delete_the_credentials(changed)
        rows = json.loads((changed / "manifest.json").read_text())["rows"] | {"credentials": 0}
        sums_made_anew(changed, rows=rows, **unsigned)
        said = other.refusal("restore", "--from", str(changed))
        assert "use another copy of" in said or "add --unsigned if nobody else could" in said
        assert not (other.directory / "var" / "duograph.sqlite").exists()
        shutil.rmtree(changed)


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (link_to_another_file, "use another copy of"),
        (link_to_another_folder, "use another copy of"),
        (add_a_trigger, "triggers or views that are not of Duograph, such as mine"),
        (add_a_view, "triggers or views that are not of Duograph, such as mine"),
    ],
)
def test_a_restore_follows_no_link_and_takes_no_trigger_whatever_the_sums_say(
    source: Command, other: Command, alter: Callable[[Path], None], said: str
) -> None:
    source.json("backup", "--to", "copy")
    backup = source.directory / "copy"
    alter(backup)
    sums_made_anew(backup)
    assert said in other.refusal("restore", "--unsigned", "--from", str(backup))
    assert not list((other.directory / "var").rglob("*.*"))
