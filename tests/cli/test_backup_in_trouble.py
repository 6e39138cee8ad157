"""Backups and restores without room, and beside others that use the same place."""

import os
import re
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import sleep

import pytest

from storage.copies.manifest import read_manifest
from storage.copies.restore import restore_backup
from storage.copies.sqlite_files import CopyRefused
from tests.support.commands.command import PROGRAM, UNMEASURED, Command
from tests.support.measures.patience import PATIENCE_SECONDS


def test_a_backup_for_which_there_is_no_room_is_refused_in_a_sentence(source: Command) -> None:
    limited = (*UNMEASURED, "bash", "-c", 'ulimit -f 200; exec "$@"', "bash", *PROGRAM)
    said = replace(source, program=limited).refusal("backup", "--to", "copy")
    assert re.fullmatch(r"The database could not be copied to copy: .*\.", said)
    assert sorted(each.name for each in source.directory.iterdir()) == ["var"]


def test_what_is_set_up_during_a_restore_is_not_overwritten(source: Command, other: Command) -> None:
    source.json("backup", "--to", "copy")
    backup, place = source.directory / "copy", other.directory / "var"
    place.mkdir()
    database = place / "duograph.sqlite"

    def set_up(step: str, done: int, total: int) -> None:
        if done == total:
            database.write_text("new")

    with pytest.raises(CopyRefused, match="exists already"):
        restore_backup(backup, read_manifest(backup), database, place / "objects", set_up)
    assert [each.name for each in place.rglob("*") if each.is_file()] == [database.name]
    assert database.read_text() == "new"


class Held:
    """An object of the store that the next program to open it has to wait for; others find it as it is."""

    def __init__(self, file: Path, directory: Path) -> None:
        self._content, self._pipe = file.read_bytes(), directory / f"{file.name}.pipe"
        self._file = file
        file.unlink()
        os.mkfifo(file)

    def wait_for_reader(self) -> None:
        while True:
            with suppress(OSError):
                self._write_to = os.open(self._file, os.O_WRONLY | os.O_NONBLOCK)
                break
            sleep(0.01)
        self._file.rename(self._pipe)
        self._file.write_bytes(self._content)

    def release(self) -> None:
        os.set_blocking(self._write_to, True)
        with os.fdopen(self._write_to, "wb") as pipe:
            pipe.write(self._content)


def test_backups_to_one_place_at_once_do_not_disturb_each_other(source: Command, tmp_path: Path) -> None:
    objects = sorted(file for file in (source.directory / "var/objects/objects").rglob("*") if file.is_file())
    running = []
    # The first one has copied all objects but one when the second one begins.
    for file in (objects[-1], objects[0]):
        held = Held(file, tmp_path)
        started = source.start("backup", "--to", "copy", stderr=subprocess.PIPE)
        running.append((started, held))
        held.wait_for_reader()
    ends = []
    for started, held in running:
        held.release()
        _, said = started.communicate(timeout=PATIENCE_SECONDS)
        ends.append((started.returncode, said))
    assert [status for status, _ in ends] == [0, 1], ends
    assert "Directory not empty" in ends[1][1]
    assert source.json("restore", "--check", "--from", "copy")["objects"] == len(objects)
    assert sorted(each.name for each in source.directory.iterdir()) == ["copy", "var"]
