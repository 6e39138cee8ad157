"""What operators change by commands is in the change log, as theirs."""

import sqlite3
from contextlib import closing


def logged(command):
    """The kinds in the log with who caused them, in order."""
    with closing(sqlite3.connect(command.directory / "var" / "duograph.sqlite")) as connection:
        return connection.execute("SELECT kind, actor_kind FROM changes ORDER BY position").fetchall()


def test_commands_write_the_log_as_the_operator(command):
    start = len(logged(command))
    made = command.json("tokens", "create", "--workspace", "acme", "--comment", "build")
    command.json("workspaces", "status", "acme", "onboarding_started")
    command.json("tokens", "revoke", made["id"])
    assert logged(command)[start:] == [
        ("workspace_access_token.created", "operator"),
        ("workspace.status_changed", "operator"),
        ("workspace_access_token.revoked", "operator"),
    ]


def test_settings_that_no_answer_shows_are_no_changes(command):
    start = len(logged(command))
    command.json("limits", "set", "acme", "1000")
    command.json("workspaces", "review-threshold", "acme", "5000")
    assert logged(command)[start:] == []


def test_demo_data_is_imported_in_batches(seeded):
    kinds = [kind for kind, _ in logged(seeded)]
    assert kinds.count("file_share_sessions.ingested") == kinds.count("events.ingested") == 1
    assert "file_share_session.downloaded" not in kinds
