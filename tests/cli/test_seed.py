"""Demo data from the command line."""

import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from gateway.cli.demo.entry import enter_demo
from gateway.settings.settings import Settings
from storage.engine.database import Database
from tests.support.commands.command import Command
from tests.support.databases.own_databases import own_database

# Another process, since the tables of this one are shared with other tests.
WITH_NEW_COLUMNS = """
import asyncio

from pydantic.fields import FieldInfo
from sqlalchemy import Column, Text
from sqlmodel import SQLModel

from gateway.cli.demo.entry import enter_demo
from gateway.settings.settings import Settings
from storage.engine.database import Database
from storage.rows.rows import table_of
from storage.tables.customers import customers
from storage.tables.events import events
from storage.tables.shares import file_share_sessions, shares

MODELS = [
    model
    for module in (customers, events, file_share_sessions, shares)
    for model in vars(module).values()
    if isinstance(model, type) and issubclass(model, SQLModel) and hasattr(model, "__table__")
]
for model in MODELS:
    table_of(model).append_column(Column("added", Text, nullable=False))
    model.model_fields["added"] = FieldInfo(annotation=str, default="by default")


async def main() -> None:
    settings = Settings.from_environ({"DUOGRAPH_DATABASE_URL": "sqlite:///added.sqlite"})
    database = Database(settings.database_url)
    async with database.engine.begin() as connection:
        await connection.run_sync(SQLModel.metadata.create_all)
    await enter_demo(settings, database)
    await database.close()


asyncio.run(main())
"""


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A database with as much activity as was asked for."""
    command = Command(tmp_path_factory.mktemp("busy"))
    command.json("seed", "--sessions", "300", "--days", "30")
    return command


def test_each_seed_is_a_workspace_of_its_own_with_all_that_opens_it(empty: Command) -> None:
    bucket = {"DUOGRAPH_OBJECT_STORE": "s3://demo", "DUOGRAPH_S3_ENDPOINT": "http://127.0.0.1:1"}
    first, second = empty.json("seed"), empty.json("seed", "--sessions", "10", "--days", "5", **bucket)
    assert first.keys() == {"workspace", "workspace_token", "user", "personal_token"}
    assert first["user"].keys() == {"email", "password"}
    assert (first["workspace"]["slug"], first["workspace"]["status"]) == ("demo", "active")
    assert second["workspace"]["slug"].startswith("demo-")
    assert first["user"]["password"] != second["user"]["password"]
    assert first["workspace_token"].startswith("dg_wat_")
    assert first["personal_token"].startswith("dg_pat_")
    listed = {token["workspace"] for token in empty.json("tokens", "list")["tokens"]}
    assert listed == {None, "demo", second["workspace"]["slug"]}
    # A directory gets files, a bucket none.
    with closing(sqlite3.connect(empty.directory / "var/duograph.sqlite")) as database:
        of_files = database.execute("SELECT DISTINCT workspace_id FROM files").fetchall()
    assert of_files == [(UUID(first["workspace"]["id"]).hex,)]


def test_a_seed_has_as_much_activity_as_asked_for_and_none_of_it_lies_ahead(busy: Command) -> None:
    with closing(sqlite3.connect(busy.directory / "var/duograph.sqlite")) as database:
        (sessions, events) = (
            database.execute("SELECT count(*) FROM file_share_sessions").fetchone()[0],
            database.execute("SELECT count(*) FROM events WHERE source = 'user'").fetchone()[0],
        )
        first, last = database.execute("SELECT min(moment), max(moment) FROM metric_facts").fetchone()
        currencies = {row[0] for row in database.execute("SELECT DISTINCT currency FROM file_share_payments")}
        assert before_their_customers(database) == 0
    assert (sessions, events) == (300, 300)
    assert last <= time.time() * 1_000_000
    assert first >= (time.time() - 32 * 86_400) * 1_000_000
    assert currencies == {"usd", "eur"}


def test_what_is_kept_of_a_seed_is_what_its_rows_say_and_is_rebuilt_if_not(
    busy: Command, tmp_path: Path
) -> None:
    copy = Command(shutil.copytree(busy.directory, tmp_path / "copy"))
    for noun, name in (("metrics", "cells"), ("totals", "totals")):
        verified = copy.json(noun, "verify")
        assert verified["differences"] == 0 < verified[name]
    with closing(sqlite3.connect(copy.directory / "var/duograph.sqlite")) as database, database:
        database.execute("UPDATE list_totals SET total = total + 1 WHERE list = 'events'")
    refused = copy.run("totals", "verify")
    assert (refused.status, "1 totals differ from the rows" in refused.stderr) == (1, True)
    assert copy.json("totals", "rebuild") == {"totals": verified["totals"], "differences": 1}
    assert copy.json("totals", "verify")["differences"] == 0
    assert copy.json("totals", "verify", "--workspace", "demo") == {**verified, "differences": 0}
    assert "no workspace with the slug nowhere" in copy.refusal("totals", "verify", "--workspace", "nowhere")


def test_a_new_required_column_with_a_default_does_not_break_the_demo(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", WITH_NEW_COLUMNS], cwd=tmp_path, check=True, timeout=300)
    with closing(sqlite3.connect(tmp_path / "added.sqlite")) as database:
        for table in ("customers", "events", "file_share_sessions", "file_share_refunds", "shares"):
            assert database.execute(f"SELECT DISTINCT added FROM {table}").fetchall() == [("by default",)]


def before_their_customers(database: sqlite3.Connection) -> int:
    """How many sessions and events are older than their customer, and arrivals not of its moment."""
    counted = 0
    for table, moment in (("file_share_sessions", "created_at"), ("events", "timestamp")):
        joined = f"FROM {table} AS own JOIN customers ON customers.id = own.customer_id WHERE own.{moment}"
        counted += database.execute(f"SELECT count(*) {joined} < customers.created_at").fetchone()[0]
    arrivals = f"{joined} <> customers.created_at AND own.name = 'customer.created'"
    return counted + int(database.execute(f"SELECT count(*) {arrivals}").fetchone()[0])


async def test_the_demo_has_pictures_and_customers_with_files_to_download(tmp_path: Path) -> None:
    url = await own_database("sqlite", tmp_path)
    entered = Database(url)
    await enter_demo(Settings(database_url=url, object_store=str(tmp_path / "objects")), entered)
    await entered.close()
    with closing(sqlite3.connect(tmp_path / "duograph.sqlite")) as database:
        listed = database.execute(
            "SELECT shares.name, files.name, files.path, files.size FROM share_downloads"
            " JOIN shares ON shares.id = share_id JOIN files ON files.id = file_id"
        ).fetchall()
        assert before_their_customers(database) == 0
        pictures = database.execute("SELECT count(DISTINCT share_id) FROM share_medias").fetchone()
        bought = database.execute(
            "SELECT shares.name, file_size_bytes FROM file_share_sessions"
            " JOIN shares ON shares.id = share_id JOIN customers ON customers.id = customer_id"
            " WHERE customers.email = 'mina@example.com' ORDER BY shares.name"
        ).fetchall()
    assert pictures == (12,)
    # Shares that give the same text along have one file of it.
    assert len({path for _, name, path, _ in listed if name == "Read me.txt"}) == 1
    for _, name, path, size in listed:
        stored = (tmp_path / "objects/objects" / path).read_bytes()
        assert len(stored) == size, name
    sizes = {share: sum(size for name, _, _, size in listed if name == share) for share, *_ in listed}
    names = ["Lighthouse poster", "Wallpapers of the tides"]
    assert bought == [(name, sizes[name]) for name in names]
