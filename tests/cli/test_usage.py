"""What clients use, from the command line."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.support.commands.command import Command

PARTS = (("Query.shares", "operation", 0, 7), ("Share.name", "field", 1, 9))


@pytest.fixture
def used(command: Command) -> Command:
    """A workspace whose customers have used two parts of GraphQL today."""
    moment = datetime.now(UTC)
    with closing(sqlite3.connect(command.directory / "var" / "duograph.sqlite")) as database:
        ((workspace,),) = database.execute("SELECT id FROM workspaces").fetchall()
        for name, kind, is_deprecated, requests in PARTS:
            database.execute(
                "INSERT INTO usage_counts (workspace_id, day, client_kind, client_id, surface, name, kind,"
                " is_deprecated, requests, last_used_at)"
                " VALUES (?, ?, 'customer_sessions', ?, 'graphql', ?, ?, ?, ?, ?)",
                (
                    *(workspace, moment.date().isoformat(), workspace, name, kind, is_deprecated, requests),
                    moment.replace(tzinfo=None).isoformat(" "),
                ),
            )
        database.commit()
    return command


def test_the_most_used_comes_first(used: Command) -> None:
    answer = used.json("usage", "--workspace", "acme")
    assert [(row["name"], row["requests"]) for row in answer["data"]] == [
        ("Share.name", 9),
        ("Query.shares", 7),
    ]
    assert (answer["slug"], answer["total"]) == ("acme", 2)


def test_a_table_marks_what_is_deprecated(used: Command) -> None:
    shown = used.run("usage", "--workspace", "acme", "--deprecated").stdout
    heading, line = shown.splitlines()
    assert heading.split() == ["CLIENT", "USED", "REQUESTS", "LAST", "USE"]
    assert line.split()[:4] == ["customer_sessions", "Share.name", "(deprecated)", "9"]


def test_options_narrow_the_list(used: Command) -> None:
    answer = used.json("usage", "--workspace", "acme", "--kind", "operation", "--days", "2", "--limit", "1")
    assert [row["name"] for row in answer["data"]] == ["Query.shares"]
    shown = used.run("usage", "--workspace", "acme", "--surface", "rest").stdout
    assert shown == "No client of acme used any of this in 30 days.\n"
    nobody = used.run("usage", "--workspace", "acme", "--client", str(uuid4())).stdout
    assert nobody == shown
