"""What holds for every subcommand: settings, the database, usage, help."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from storage.engine.database import Database
from storage.migrations.revisions import newest_revision
from tests.support.commands.command import PROGRAM, Command


def test_migrate_makes_the_tables_and_can_be_repeated(empty: Command) -> None:
    started = replace(empty, program=PROGRAM)
    for each in (started, empty):
        assert each.json("migrate") == {"revision": newest_revision()}


def test_a_missing_database_is_not_made_in_passing(empty: Command) -> None:
    said = empty.refusal("tokens", "list")
    assert said.startswith("There is no database at var/duograph.sqlite: run `duograph migrate`, or")
    assert not (empty.directory / "var").exists()


def test_a_database_without_tables_asks_for_a_migration(empty: Command) -> None:
    (empty.directory / "other.sqlite").touch()
    said = empty.refusal("tokens", "list", DUOGRAPH_DATABASE_URL="sqlite:///other.sqlite")
    assert said == "The database has no tables yet: run `duograph migrate`."


@pytest.mark.parametrize(
    "arguments", [("migrate",), ("serve", "--port", "0"), ("tokens", "list")], ids=" ".join
)
def test_a_database_of_a_newer_version_says_what_to_do_after_a_rollback(
    command: Command, arguments: tuple[str, ...]
) -> None:
    with closing(sqlite3.connect(command.directory / "var" / "duograph.sqlite")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    assert command.refusal(*arguments) == (
        f"The database is at revision 9999, of a newer version; this one ends at {newest_revision()}: start "
        "the newer version again, or restore the backup from before the upgrade."
    )


def test_a_database_of_an_older_version_asks_for_a_migration(command: Command) -> None:
    older = f"{int(newest_revision()) - 1:04}"
    with closing(sqlite3.connect(command.directory / "var" / "duograph.sqlite")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (older,))
    assert command.refusal("tokens", "list") == (
        f"The database is at revision {older}, but this version needs {newest_revision()}: run "
        "`duograph migrate`."
    )


def test_what_the_database_refuses_is_one_sentence_without_the_statement(command: Command) -> None:
    with closing(sqlite3.connect(command.directory / "var" / "duograph.sqlite")) as connection, connection:
        connection.execute("ALTER TABLE credentials RENAME TO lost")
    said = command.refusal("tokens", "list")
    assert said == "The database refused a statement: no such table: credentials"


def test_a_database_older_than_the_oldest_revision_says_what_upgrades_it(command: Command) -> None:
    with closing(sqlite3.connect(command.directory / "var" / "duograph.sqlite")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0011'")
    assert command.refusal("migrate") == (
        "The database is at revision 0011, which this version does not upgrade: check out commit c144c91, "
        "run its `duograph migrate`, and then this one's."
    )


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
        (("workspcaes",), "No such command 'workspcaes'. Did you mean 'workspaces'? `duograph --help` lists"),
        (("users", "crate"), "No such command 'crate'. Did you mean 'create'? `duograph users --help` lists"),
        (("serve", "--demmo"), "No such option: --demmo. Did you mean --demo? `duograph serve --help` lists"),
        (("users",), "Missing command: `duograph users --help`"),
        (("users", "create"), "Missing option '--email': `duograph users create --help`"),
        (("usage", "--workspace", "acme", "--client", "mine"), "Invalid value for '--client': "),
        (("workspaces", "status", "acme", "asleep"), "Invalid value for 'status': 'asleep' is not one of "),
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


def test_an_error_with_json_is_one_object_with_its_code(empty: Command) -> None:
    for arguments, code in ((("tokens", "list"), "failed"), (("usres",), "usage")):
        outcome = empty.run(*arguments, "--json")
        plain = empty.run(*arguments)
        assert json.loads(outcome.stderr) == {"error": code, "detail": plain.stderr.strip()}
        assert outcome.stdout == plain.stdout == ""


def test_the_version_is_that_of_the_package(own_start: Command) -> None:
    for option in ("--version", "-V"):
        assert own_start.run(option).stdout == f"duograph {version('duograph')}\n"


@pytest.mark.parametrize("command", [(), ("users",), ("users", "create"), ("serve",)], ids=" ".join)
def test_help_has_a_short_option(empty: Command, command: tuple[str, ...]) -> None:
    assert empty.run(*command, "-h").stdout == empty.run(*command, "--help").stdout != ""


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_every_noun(own_start: Command, option: str) -> None:
    outcome = own_start.run(option)
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
    seeded = empty.json("seed", "--sessions", "10", "--days", "5", DUOGRAPH_DATABASE_URL=url)
    assert seeded["workspace"]["slug"] == "demo"
