"""What holds for every subcommand: settings, the database, usage, help."""

import sqlite3

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from storage.database import Database
from storage.migrations.revisions import newest_revision
from tests.support.command import Command


def test_migrate_makes_the_tables_and_can_be_repeated(empty: Command) -> None:
    for _ in range(2):
        assert empty.json("migrate") == {"revision": newest_revision()}


def test_a_missing_database_is_not_made_in_passing(empty: Command) -> None:
    said = empty.refusal("tokens", "list")
    assert said.startswith("There is no database at var/duograph.sqlite: run `duograph migrate`, or")
    assert not (empty.directory / "var").exists()


def test_a_database_without_tables_asks_for_a_migration(empty: Command) -> None:
    (empty.directory / "other.sqlite").touch()
    said = empty.refusal("tokens", "list", DUOGRAPH_DATABASE_URL="sqlite:///other.sqlite")
    assert said == "The database has no tables yet: run `duograph migrate`."


def test_a_database_from_the_future_asks_for_a_newer_version(command: Command) -> None:
    with sqlite3.connect(command.directory / "var" / "duograph.sqlite") as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'fffffffffff0'")
    connection.close()
    assert "created by a newer version: install that version" in command.refusal("migrate")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://ada:hush@127.0.0.1:1/duograph", "cannot be reached"),
        ("sqlite:////proc/duograph.sqlite", "cannot be reached (unable to open database file)"),
        ("sqlite:////dev/null/deep/duograph.sqlite", "cannot be reached (Not a directory)"),
        ("sqlite:///text", "cannot be reached (file is not a database)"),
        ("mysql://ada:hush@127.0.0.1/duograph", "should begin with sqlite:/// or postgresql://"),
    ],
    ids=["nobody listens", "no place for files", "no directory", "no database", "another kind"],
)
def test_a_database_out_of_reach_is_one_sentence_without_the_password(
    empty: Command, url: str, reason: str
) -> None:
    (empty.directory / "text").write_text("This is no database. " * 99)
    said = empty.refusal("migrate", DUOGRAPH_DATABASE_URL=url)
    assert reason in said
    assert "DUOGRAPH_DATABASE_URL" in said
    assert "hush" not in said


def test_a_variable_that_names_no_setting_stops_every_command(empty: Command) -> None:
    said = empty.refusal("migrate", DUOGRAPH_DATABSE_URL="sqlite:///x.sqlite")
    assert said == "DUOGRAPH_DATABSE_URL is not a setting: correct its name or unset it."


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "Missing command: `duograph --help`"),
        (("usres",), "No such command 'usres'"),
        (("users",), "Missing command: `duograph users --help`"),
        (("users", "create"), "Missing option '--email': `duograph users create --help`"),
        (("migrate", "--now"), "No such option: --now: `duograph migrate --help`"),
    ],
)
def test_a_usage_error_is_one_sentence_and_status_2(
    empty: Command, arguments: tuple[str, ...], reason: str
) -> None:
    outcome = empty.run(*arguments)
    assert (outcome.status, outcome.stdout) == (2, "")
    (line,) = outcome.stderr.splitlines()
    assert line.startswith(reason)


def test_help_lists_every_noun(empty: Command) -> None:
    outcome = empty.run("--help")
    assert outcome.status == 0
    for noun in ("serve", "migrate", "seed", "users", "workspaces", "tokens", "limits", "schema", "doctor"):
        assert f" {noun} " in outcome.stdout


async def test_postgresql_is_migrated_only_when_asked(empty: Command, postgresql_url: str) -> None:
    server = Database(postgresql_url, pool_size=1)
    async with server.read() as connection:
        await connection.execute(text("CREATE DATABASE migrated_when_asked"))
    await server.close()
    url = make_url(postgresql_url).set(database="migrated_when_asked").render_as_string(hide_password=False)
    wanted = "The database has no tables yet: run `duograph migrate`."
    assert empty.refusal("serve", "--port", "0", DUOGRAPH_DATABASE_URL=url) == wanted
    assert empty.refusal("seed", DUOGRAPH_DATABASE_URL=url) == wanted
    assert empty.json("migrate", DUOGRAPH_DATABASE_URL=url) == {"revision": newest_revision()}
    assert empty.json("seed", DUOGRAPH_DATABASE_URL=url)["workspace"]["slug"] == "demo"
