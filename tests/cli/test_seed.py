"""Demo data from the command line."""

import sqlite3
import time
from contextlib import closing

from tests.support.command import Command


def test_each_seed_is_a_workspace_of_its_own_with_all_that_opens_it(empty: Command) -> None:
    first, second = empty.json("seed"), empty.json("seed")
    assert first.keys() == {"workspace", "workspace_token", "user", "personal_token"}
    assert first["user"].keys() == {"email", "password"}
    assert (first["workspace"]["slug"], first["workspace"]["status"]) == ("demo", "active")
    assert second["workspace"]["slug"].startswith("demo-")
    assert first["user"]["password"] != second["user"]["password"]
    assert first["workspace_token"].startswith("dg_wat_")
    assert first["personal_token"].startswith("dg_pat_")
    listed = {token["workspace"] for token in empty.json("tokens", "list")["tokens"]}
    assert listed == {None, "demo", second["workspace"]["slug"]}


def test_a_seed_has_as_much_activity_as_asked_for_and_none_of_it_lies_ahead(empty: Command) -> None:
    empty.json("seed", "--sessions", "300", "--days", "30")
    with closing(sqlite3.connect(empty.directory / "var/duograph.sqlite")) as database:
        (sessions, events) = (
            database.execute("SELECT count(*) FROM file_share_sessions").fetchone()[0],
            database.execute("SELECT count(*) FROM events WHERE source = 'user'").fetchone()[0],
        )
        first, last = database.execute("SELECT min(moment), max(moment) FROM metric_facts").fetchone()
        currencies = {row[0] for row in database.execute("SELECT DISTINCT currency FROM file_share_payments")}
    assert (sessions, events) == (300, 300)
    assert last <= time.time() * 1_000_000
    assert first >= (time.time() - 32 * 86_400) * 1_000_000
    assert currencies == {"usd", "eur"}
