"""`duograph move`: all rows of a SQLite file, in PostgreSQL."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import asyncpg
import httpx
import pytest
import pytest_asyncio

from storage.copies.marks import Mark, State, set_mark
from storage.engine.database import Database
from storage.migrations.revisions import newest_revision
from tests.support.commands.command import Command
from tests.support.commands.moves import (
    change,
    differences_in,
    file_of,
    interrupt_before,
    numbers_of,
    plain,
    stopped_before,
)
from tests.support.commands.serving import serving
from tests.support.databases.own_databases import own_database

TOKEN = "token"
KEYS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    UNION SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2
"""
END_HELD = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event = 'advisory'
"""
RELATIONS = "SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A database with the demo workspace, and events whose parents come before and after them."""
    command = Command(tmp_path_factory.mktemp("seeded"))
    token = command.json("seed", "--sessions", "60", "--days", "40")["workspace_token"]
    (command.directory / TOKEN).write_text(token)
    with closing(sqlite3.connect(file_of(command))) as connection, connection:
        ids = [id for (id,) in connection.execute("SELECT id FROM events ORDER BY id")]
        for id, parent in ((ids[0], ids[-1]), (ids[1], ids[0]), (ids[-2], ids[1])):
            connection.execute("UPDATE events SET parent_id = ? WHERE id = ?", (parent, id))
        connection.execute("UPDATE users SET name = 'Zoë \U0001f427 O''Hara: 100%'")
    return command


@pytest.fixture
def source(seeded: Command, tmp_path: Path) -> Command:
    shutil.copytree(seeded.directory, tmp_path / "source")
    return Command(tmp_path / "source")


@pytest_asyncio.fixture
async def url(postgresql_url: str, tmp_path: Path) -> str:
    """A migrated, empty database of the test's own."""
    return await own_database(postgresql_url, tmp_path)


@pytest_asyncio.fixture
async def target(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(plain(url))
    yield connection
    await connection.close()


async def mark(command: Command, state: State) -> None:
    """Mark the command's file as a move to another database does."""
    database = Database(f"sqlite+aiosqlite:///{file_of(command)}")
    async with database.write() as connection:
        await set_mark(connection, Mark(state, "postgresql://elsewhere/shop"))
    await database.close()


async def test_every_row_is_moved_and_the_file_is_not_served_again(
    source: Command, url: str, target: asyncpg.Connection
) -> None:
    keys = await target.fetch(KEYS)
    moved = source.json("move", "--to", url)
    expected = numbers_of(source)
    assert moved["differences"] == 0
    assert moved["rows"] == sum(expected.values()) > 500
    assert {table["table"]: table["moved_rows"] for table in moved["tables"]} == expected
    assert all(table["checksum"] == table["moved_checksum"] for table in moved["tables"])
    assert await target.fetch(KEYS) == keys
    assert await target.fetchval("SELECT name FROM users LIMIT 1") == "Zoë \U0001f427 O'Hara: 100%"
    assert await differences_in(url) == 0
    assert "set DUOGRAPH_DATABASE_URL to it" in source.refusal("serve", "--port", "0")
    assert "already" in source.refusal("move", "--to", url)
    assert source.json("move", "--undo", "--yes")["state"] == "moved"
    change(source)


async def test_a_killed_move_goes_on_and_gateways_refuse_changes_meanwhile(
    source: Command, url: str, target: asyncpg.Connection
) -> None:
    token = (source.directory / TOKEN).read_text()
    headers = {"Authorization": f"Bearer {token}"}
    with serving(source) as served:
        async with httpx.AsyncClient(base_url=served["url"], headers=headers) as client:

            async def create() -> httpx.Response:
                return await client.post("/api/customers/", json={"email": f"{uuid4().hex}@example.com"})

            assert (await create()).status_code == 201
            async with stopped_before("file_share_sessions", source, url):
                refused = await create()
                assert refused.status_code == 503
                assert refused.json()["error"] == "unavailable"
                assert "being moved" in refused.json()["detail"]
                assert int(refused.headers["Retry-After"]) > 0
                document = 'mutation { createCustomer(data: {email: "a@example.com"}) { id } }'
                answer = (await client.post("/graphql", json={"query": document})).json()
                assert answer["errors"][0]["extensions"]["code"] == "unavailable"
                assert (await client.get("/api/customers/")).status_code == 200
            assert await target.fetchval("SELECT count(*) FROM customers") > 0
            assert await target.fetchval("SELECT count(*) FROM file_share_sessions") == 0
            assert (await create()).status_code == 503
            assert "has not ended" in source.refusal("users", "list", DUOGRAPH_DATABASE_URL=url)
            moved = source.json("move", "--to", url)
            assert "was moved" in (await create()).json()["detail"]
            assert (await client.get("/ready")).status_code == 503
    assert moved["differences"] == 0
    assert {table["table"]: table["rows"] for table in moved["tables"]} == numbers_of(source)


async def test_a_move_that_loses_its_connection_says_so_and_goes_on_when_it_is_run_again(
    source: Command, url: str, target: asyncpg.Connection
) -> None:
    async with stopped_before("file_share_sessions", source, url) as move:
        await target.execute(END_HELD)
        assert move.stderr is not None
        error = await asyncio.to_thread(move.stderr.read)
    assert error.endswith("was lost: run the command again once the database answers.\n")
    assert "Traceback" not in error
    assert source.json("move", "--to", url)["differences"] == 0


async def test_a_file_that_was_changed_after_an_interruption_is_noticed(
    source: Command, url: str, target: asyncpg.Connection
) -> None:
    await interrupt_before("file_share_sessions", source, url)
    with pytest.raises(sqlite3.IntegrityError, match="is being moved to another database"):
        change(source)
    change(source, "DROP TRIGGER duograph_move_users_update")
    change(source)
    assert "may have been changed since the move began" in source.refusal("move", "--to", url)
    assert await target.fetchval("SELECT count(*) FROM file_share_sessions") == 0
    assert source.json("move", "--undo", "--yes")["state"] == "moving"
    assert "rows of another move, or of one that was undone" in source.refusal("move", "--to", url)
    assert await target.fetchval("SELECT count(*) FROM users WHERE name = 'changed'") == 0


async def test_a_database_with_rows_of_its_own_is_refused_and_nothing_is_changed(
    source: Command, url: str, target: asyncpg.Connection
) -> None:
    stranger = ("--email", "stranger@example.com", "--name", "Stranger")
    source.json("users", "create", *stranger, stdin="a long password", DUOGRAPH_DATABASE_URL=url)
    rows, schema = await target.fetch("SELECT * FROM users"), await target.fetch(RELATIONS)
    before = numbers_of(source)
    refusal = source.refusal("move", "--to", url)
    assert refusal.endswith(" has rows already (users): move into a new, empty database.")
    assert refusal.startswith("postgresql://")
    assert await target.fetch("SELECT * FROM users") == rows
    assert await target.fetch(RELATIONS) == schema
    assert numbers_of(source) == before
    change(source)


async def test_tables_that_differ_are_named_and_the_file_stays_the_one_to_use(
    source: Command, url: str, target: asyncpg.Connection
) -> None:
    await interrupt_before("file_share_sessions", source, url)
    row = "(SELECT {} FROM {} LIMIT 1)"
    await target.execute(f"UPDATE customers SET name = 'x' WHERE id = {row.format('id', 'customers')}")
    await target.execute(f"DELETE FROM list_totals WHERE value = {row.format('value', 'list_totals')}")
    outcome = source.run("move", "--to", url, "--json")
    moved = json.loads(outcome.stdout)
    left = {table["table"]: table for table in moved["tables"] if table["differs"]}
    assert (outcome.status, moved["differences"], left.keys()) == (1, 2, {"customers", "list_totals"})
    customers, totals = left["customers"], left["list_totals"]
    assert customers["rows"] == customers["moved_rows"]
    assert customers["checksum"] != customers["moved_checksum"]
    assert totals["rows"] > totals["moved_rows"]
    assert json.loads(outcome.stderr)["detail"].startswith(
        "2 tables differ: customers (other values), "
        f"list_totals ({totals['moved_rows']} rows instead of {totals['rows']}). "
    )
    assert source.json("move", "--undo", "--yes")["state"] == "moving"
    change(source)


@pytest.mark.long
async def test_the_doctor_says_what_a_move_means_for_each_database(source: Command, url: str) -> None:
    def finding(**settings: str) -> tuple[int, str]:
        outcome = source.run("doctor", "--json", **settings)
        checks = {check["name"]: check["message"] for check in json.loads(outcome.stdout)["checks"]}
        return outcome.status, checks["database"].partition(". Searching")[0]

    assert finding() == (0, "sqlite, at the newest revision")
    await interrupt_before("file_share_sessions", source, url)
    status, message = finding()
    assert status == 1
    assert "changes are refused until it ends" in message
    assert "`duograph move` again" in message
    assert "`duograph move --undo`" in message
    assert "run `duograph move` again" in finding(DUOGRAPH_DATABASE_URL=url)[1]
    source.json("move", "--to", url)
    status, message = finding()
    assert status == 1
    assert "The data was moved to postgresql://" in message
    assert "set DUOGRAPH_DATABASE_URL to it" in message
    assert finding(DUOGRAPH_DATABASE_URL=url) == (0, "postgresql, at the newest revision")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--to", "sqlite:///other.sqlite"), "--to should be postgresql://USER@HOST/NAME"),
        (("--to", "mysql://db/shop"), "--to should be postgresql://USER@HOST/NAME"),
        ((), "Say where to: --to postgresql://USER@HOST/NAME, or --undo."),
        (("--to", "postgresql://127.0.0.1:1/shop", "--undo"), "Say where to: "),
    ],
)
def test_a_move_to_nowhere_is_a_usage_error(
    command: Command, arguments: tuple[str, ...], sentence: str
) -> None:
    assert command.refusal("move", *arguments, status=2).startswith(sentence)


def test_what_is_no_file_at_the_newest_revision_is_not_moved(command: Command) -> None:
    to = ("move", "--to", "postgresql://127.0.0.1:1/shop")
    said = command.refusal(*to, DUOGRAPH_DATABASE_URL="postgresql://127.0.0.1:1/duograph")
    assert said == "Only SQLite is moved: DUOGRAPH_DATABASE_URL should be that of the file."
    (command.directory / "empty.sqlite").touch()
    said = command.refusal(*to, DUOGRAPH_DATABASE_URL="sqlite:///empty.sqlite")
    assert said == (
        "The database has no tables yet: run `duograph migrate`. This is about DUOGRAPH_DATABASE_URL."
    )
    said = command.refusal("move", "--undo", "--yes")
    assert said == "No move from this database has begun: there is nothing to undo."


async def test_a_file_is_moved_to_one_place_at_a_time(command: Command, url: str) -> None:
    await mark(command, State.MOVING)
    said = command.refusal("move", "--to", url)
    assert said.startswith("A move to postgresql://elsewhere/shop began on ")
    assert said.endswith("go on with it, or `duograph move --undo` first.")


async def test_a_moved_file_is_neither_recommended_nor_migrated(command: Command) -> None:
    await mark(command, State.MOVED)
    outcome = command.run("doctor", "--json")
    (failed,) = [check for check in json.loads(outcome.stdout)["checks"] if not check["ok"]]
    assert (outcome.status, failed["name"]) == (1, "database")
    assert failed["message"].startswith("The data was moved to postgresql://elsewhere/shop on ")
    with closing(sqlite3.connect(file_of(command))) as connection, connection:
        older = f"{int(newest_revision()) - 1:04}"
        connection.execute("UPDATE alembic_version SET version_num = ?", (older,))
    said = command.refusal("migrate")
    assert said.startswith("A move that began on ")
    assert "finish the move with the version that began it, or `duograph move --undo`." in said
