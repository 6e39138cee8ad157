"""Copies of a SQLite database and its objects: what is damaged is found, and others do not disturb them."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest

from storage.copies.backup import copy_all, make_backup
from storage.copies.copying import TABLES, copy_rows
from storage.copies.manifest import DATABASE, MANIFEST, Manifest, read_manifest, write_manifest
from storage.copies.marks import Mark, State, advance, read_mark, set_mark
from storage.copies.restore import check_backup, restore_backup
from storage.copies.sqlite_files import CopyRefused, copy_database
from storage.engine.database import Database
from tests.support.databases.own_databases import own_database
from tests.support.databases.templates import sqlite_file

SECRET, PAGE_BYTES = b"a secret of the tests", 4096
# What a copy reads of the gateway's table.
FILES = "CREATE TABLE files (path TEXT, size INTEGER, checksum_sha256_hex TEXT, is_uploaded BOOLEAN)"
ABOUT = {"version": "1", "revision": "1"}


def silent(step: str, done: int, total: int) -> None:
    """Shows no progress."""


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """A database with two files, whose objects are in the store beside it."""
    database = tmp_path / "live.sqlite"
    run(database, "PRAGMA journal_mode=WAL", FILES)
    for name in ("one", "two"):
        object_of(database, name).parent.mkdir(parents=True, exist_ok=True)
        object_of(database, name).write_text(name)
        sum = sha256(name.encode()).hexdigest()
        run(database, f"INSERT INTO files VALUES ('{name}', {len(name)}, '{sum}', 1)")
    return database


def run(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def object_of(database: Path, name: str) -> Path:
    return database.with_name("store") / "objects" / name


def backed_up(database: Path, store: Path | None) -> tuple[Path, Manifest]:
    directory, place = database.with_name("backup"), "s3://bucket" if store is None else "local"
    manifest = make_backup(database, store, directory, silent, SECRET, object_place=place, **ABOUT)
    return directory, manifest


def test_files_that_are_deleted_faster_than_they_are_copied_end_a_backup(live: Path) -> None:
    run(live, *(f"INSERT INTO files VALUES ('lost {number}', 1, NULL, 1)" for number in range(20)))

    def report(step: str, done: int, total: int) -> None:
        # Each copy of the database has a row without a file, which is gone when that is noticed.
        if step == "Database":
            run(live, "DELETE FROM files WHERE path = (SELECT min(path) FROM files WHERE path LIKE 'lost%')")

    with pytest.raises(CopyRefused, match="deleted faster than they are copied"):
        copy_all(live, live.with_name("store"), live.with_name("copy"), report)


@pytest.mark.parametrize(
    ("content", "has_sum"), [("ONE", True), ("longer", False)], ids=["other content", "other size"]
)
def test_a_file_whose_content_is_not_what_its_row_says_is_named_as_damaged(
    live: Path, content: str, has_sum: bool
) -> None:
    if not has_sum:
        # As of an upload in several parts.
        run(live, "UPDATE files SET checksum_sha256_hex = NULL")
    object_of(live, "one").write_text(content)
    _, manifest = backed_up(live, live.with_name("store"))
    assert (manifest.damaged, manifest.missing, manifest.objects) == (["one"], [], 2)


def test_a_backup_of_objects_that_are_in_s3_is_restored_without_them(live: Path) -> None:
    directory, manifest = backed_up(live, None)
    restored = live.with_name("restored.sqlite")
    restore_backup(directory, manifest, restored, None, silent)
    with closing(sqlite3.connect(restored)) as connection:
        assert connection.execute("SELECT path FROM files ORDER BY 1").fetchall() == [("one",), ("two",)]
    assert sorted(file.name for file in directory.iterdir()) == ["SHA256SUMS", DATABASE, MANIFEST]


def test_a_backup_with_a_folder_in_the_place_of_a_file_is_refused(live: Path) -> None:
    directory, manifest = backed_up(live, live.with_name("store"))
    (directory / "objects" / "one").unlink()
    (directory / "objects" / "one").mkdir()
    with pytest.raises(CopyRefused, match="objects/one of the backup is not as it was made"):
        check_backup(directory, manifest, silent)


def test_a_backup_with_another_number_of_rows_than_it_says_is_refused(live: Path) -> None:
    directory, manifest = backed_up(live, None)
    check_backup(directory, manifest, silent)
    with pytest.raises(CopyRefused, match=f"{DATABASE} of the backup is not as it was made"):
        check_backup(directory, replace(manifest, rows={"files": 3}), silent)


@pytest.mark.parametrize("change", [lambda values: values | {"format": 2}, lambda values: [values]])
def test_a_backup_of_another_form_is_left_to_the_version_that_made_it(
    live: Path, change: Callable[[dict[str, object]], object]
) -> None:
    directory, manifest = backed_up(live, None)
    write_manifest(directory, manifest)
    assert read_manifest(directory) == manifest
    text = (directory / MANIFEST).read_text()
    (directory / MANIFEST).write_text(json.dumps(change(json.loads(text))))
    with pytest.raises(CopyRefused, match="was made by another version of Duograph"):
        read_manifest(directory)


def test_a_database_with_a_page_of_garbage_is_not_copied(live: Path) -> None:
    run(live, "PRAGMA journal_mode=DELETE")
    with live.open("r+b") as file:
        file.seek(PAGE_BYTES)
        file.write(bytes(PAGE_BYTES))
    with pytest.raises(CopyRefused, match=r"(?s)The database is damaged \(.+\): use an older backup"):
        copy_database(live, live.with_name("copy.sqlite"), silent)


def test_a_database_with_a_row_that_refers_to_nothing_is_not_copied(live: Path) -> None:
    run(
        live,
        "CREATE TABLE owners (id INTEGER PRIMARY KEY)",
        "CREATE TABLE things (owner_id INTEGER REFERENCES owners (id))",
        "PRAGMA foreign_keys=OFF",
        "INSERT INTO things VALUES (7)",
    )
    with pytest.raises(CopyRefused, match="Rows of things refer to missing rows"):
        copy_database(live, live.with_name("copy.sqlite"), silent)


async def test_of_two_moves_into_one_database_the_later_one_is_refused(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path}/target.sqlite")
    begun = Mark(State.RECEIVING, "elsewhere")
    async with database.write() as connection:
        await set_mark(connection, begun)
        first = await advance(connection, begun, [1, "a key"], 5)
    with pytest.raises(CopyRefused, match="Another process moves data into the same database"):
        async with database.write() as connection:
            await advance(connection, begun, [1, "another key"], 4)
    assert await read_mark(database) == first
    assert (first.position, first.copied) == ('[1, "a key"]', 5)
    await database.close()


INDEXES = "SELECT count(*) FROM pg_indexes WHERE schemaname = 'public'"


async def test_a_move_that_had_copied_everything_drops_no_index_when_it_goes_on(
    postgresql_url: str, tmp_path: Path
) -> None:
    url = await own_database(postgresql_url, tmp_path)
    target = Database(url)
    async with target.read() as connection:
        before = (await connection.exec_driver_sql(INDEXES)).scalar_one()
        mark = replace(Mark(State.RECEIVING, "elsewhere"), position=json.dumps([len(TABLES), None]))
        with closing(sqlite3.connect(sqlite_file(tmp_path))) as source:
            assert [mark async for mark in copy_rows(source, target, mark)] == []
        assert (await connection.exec_driver_sql(INDEXES)).scalar_one() == before > len(TABLES)
    await target.close()


async def test_a_row_that_postgresql_refuses_ends_a_move_without_its_values_being_told(
    postgresql_url: str, tmp_path: Path
) -> None:
    target, mark = Database(await own_database(postgresql_url, tmp_path)), Mark(State.RECEIVING, "elsewhere")
    async with target.write() as connection:
        await set_mark(connection, mark)
    with closing(sqlite3.connect(sqlite_file(tmp_path), check_same_thread=False)) as source:
        # Texts of PostgreSQL have no zero.
        source.execute(
            "INSERT INTO users (created_at, id, email, email_folded, password_hash) VALUES "
            f"('2026-01-31 09:30:00.000000', '{uuid4().hex}', 'secret' || char(0), 'b', 'c')"
        )
        with pytest.raises(CopyRefused, match=r"PostgreSQL refuses rows of users \(\w+, after the") as said:
            _ = [each async for each in copy_rows(source, target, mark)]
    assert "secret" not in str(said.value)
    await target.close()
