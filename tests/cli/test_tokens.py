"""Access tokens from the command line."""

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from oauth.credentials import mint
from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES
from storage.enums import CredentialKind
from tests.cli.conftest import OWNER
from tests.support.commands.command import Command
from tests.support.measures.spans import span


@pytest.mark.parametrize(
    ("owner", "start", "scopes"),
    [
        (("--workspace", "acme"), "dg_wat_", WORKSPACE_SCOPES),
        (("--user", OWNER), "dg_pat_", USER_SCOPES),
    ],
    ids=["workspace", "user"],
)
def test_a_token_has_all_scopes_of_its_kind_by_default(
    command: Command, owner: tuple[str, str], start: str, scopes: frozenset[str]
) -> None:
    made = command.json("tokens", "create", *owner)
    assert made.keys() == {"id", "token", "scopes", "expires_at"}
    assert made["token"].startswith(start)
    assert made["scopes"] == sorted(scopes)
    assert made["expires_at"] is None


def test_a_token_has_just_the_scopes_and_the_life_asked_for(command: Command) -> None:
    wanted = ("--scope", "shares:read", "--scope", "files:write", "--expires-in", "600")
    with span() as creating:
        made = command.json("tokens", "create", "--workspace", "acme", *wanted)
    assert made["scopes"] == ["files:write", "shares:read"]
    assert datetime.fromisoformat(made["expires_at"]) in creating + timedelta(seconds=600)


def test_the_first_owner_counts_as_the_creator_of_a_workspaces_token(command: Command) -> None:
    command.json("users", "create", "--email", "grace@example.com", stdin="another orchard lantern")
    with closing(sqlite3.connect(command.directory / "var" / "duograph.sqlite")) as connection, connection:
        (owner,) = connection.execute("SELECT user_id FROM workspace_members").fetchone()
        connection.execute(
            "INSERT INTO workspace_members (created_at, id, workspace_id, user_id, email, email_folded, role,"
            " joined_at) SELECT m.created_at, ?, m.workspace_id, u.id, u.email, u.email_folded, 'member',"
            " '2026-01-31 09:30:00.000000' FROM workspace_members m JOIN users u ON u.id <> m.user_id",
            (uuid4().hex,),
        )
    command.json("tokens", "create", "--workspace", "acme")
    with closing(sqlite3.connect(command.directory / "var" / "duograph.sqlite")) as connection:
        makers = connection.execute("SELECT maker_user_id FROM credentials").fetchall()
        assert connection.execute("SELECT count(*) FROM workspace_members").fetchone() == (2,)
    assert makers == [(owner,)]


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        (
            ("--workspace", "acme", "--scope", "user:read"),
            1,
            "scopes.0: Input should be one of these scopes",
        ),
        (("--workspace", "nowhere"), 1, "There is no workspace with the slug nowhere"),
        (("--user", "nobody@example.com"), 1, "There is no user with the address nobody@example.com"),
        ((), 2, "Invalid value for --workspace or --user"),
        (("--workspace", "acme", "--user", OWNER), 2, "Invalid value for --workspace or --user"),
        (("--workspace", "acme", "--expires-in", "0"), 1, "expires_in: Input should be greater than or"),
        (("--workspace", "acme", "--comment", "\udcff"), 1, "comment: Input should be a valid string"),
    ],
    ids=["scope", "workspace", "user", "no owner", "two owners", "no life", "no text"],
)
def test_a_token_that_makes_no_sense_is_refused(
    command: Command, arguments: tuple[str, ...], status: int, reason: str
) -> None:
    assert command.refusal("tokens", "create", *arguments, status=status).startswith(reason)


def test_a_revoked_token_leaves_the_list_and_stays_revoked(command: Command) -> None:
    first, second = (command.json("tokens", "create", "--workspace", "acme") for _ in range(2))
    command.json("tokens", "create", "--user", OWNER, "--comment", "laptop")
    by_text = command.json("tokens", "revoke", first["token"])
    assert by_text["id"] == first["id"]
    assert command.json("tokens", "revoke", first["id"]) == by_text
    command.json("tokens", "revoke", second["id"])
    (left,) = command.json("tokens", "list")["tokens"]
    assert (left["workspace"], left["user"], left["comment"]) == (None, OWNER, "laptop")
    assert "token" not in left
    assert command.json("tokens", "list", "--workspace", "acme") == {"tokens": []}


def test_the_members_are_notified_once_of_a_token_that_an_operator_revokes(command: Command) -> None:
    made = command.json("tokens", "create", "--workspace", "acme", "--comment", "laptop")
    for _ in range(2):
        command.json("tokens", "revoke", made["token"])
    with closing(sqlite3.connect(command.directory / "var" / "duograph.sqlite")) as connection:
        mails = connection.execute("SELECT recipient, subject, text FROM mails").fetchall()
    ((recipient, subject, text),) = mails
    assert (recipient, subject) == (OWNER, "Revoked: workspace access token “laptop”")
    assert "An operator revoked a credential of the workspace Acme" in text
    assert made["token"] not in text


def test_an_unknown_credential_is_refused_without_repeating_it(command: Command) -> None:
    unknown = mint(CredentialKind.WORKSPACE_TOKEN).text
    for said in (command.refusal("tokens", "revoke", name) for name in (unknown, unknown[:-1])):
        assert "`duograph tokens list` shows" in said
        assert unknown[:-1] not in said
