"""Listing, showing and deleting from the command line."""

import pytest

from tests.cli.conftest import OWNER
from tests.support.commands.command import Command
from tests.support.commands.typed import typed

GRACE = "grace@example.com"
REDIRECT = ("--redirect-uri", "https://app.example.com/callback")


@pytest.fixture
def grace(command: Command) -> str:
    command.json("users", "create", "--email", GRACE, stdin="an orchard lantern")
    return GRACE


def test_users_are_listed_and_shown_with_what_they_belong_to(command: Command, grace: str) -> None:
    users = command.json("users", "list")["users"]
    assert [(user["email"], user["name"], user["email_verified"]) for user in users] == [
        (OWNER, "Ada", True),
        (grace, None, True),
    ]
    assert len(command.json("users", "list", "--limit", "1")["users"]) == 1
    shown = command.json("users", "show", OWNER.upper())
    assert shown["workspaces"] == [{"slug": "acme", "role": "owner"}]
    assert (shown["totp"], shown["passkeys"], shown["recovery_codes"]) == (False, 0, 0)
    assert "workspaces      acme (owner)" in command.run("users", "show", OWNER).stdout
    assert command.run("users", "list").stdout.startswith("EMAIL  ")
    said = command.refusal("users", "show", "nobody@example.com")
    assert said.startswith("There is no user with the address nobody@example.com")


def test_a_deleted_user_leaves_nothing_behind(command: Command, grace: str) -> None:
    command.json("workspaces", "create", "--name", "Pier", "--slug", "pier", "--owner", grace)
    made = command.json("clients", "create", "--name", "Books", *REDIRECT, "--owner", grace)
    command.json("tokens", "create", "--user", grace)
    said = command.refusal("users", "delete", grace, "--yes")
    assert f"{grace} is the last owner of the workspace pier: make another member an owner" in said
    assert command.json("users", "show", grace)["email"] == grace

    other = "joan@example.com"
    command.json("users", "create", "--email", other, stdin="an orchard lantern")
    command.json("tokens", "create", "--user", other)
    deleted = command.json("users", "delete", other, "--yes")
    assert deleted["email"] == other
    assert [user["email"] for user in command.json("users", "list")["users"]] == [OWNER, grace]
    assert [token["user"] for token in command.json("tokens", "list")["tokens"]] == [grace]
    assert [client["owner"] for client in command.json("clients", "list")["clients"]] == [grace]
    assert command.json("clients", "show", made["client_id"])["name"] == "Books"


def test_a_deleted_workspace_is_found_by_no_command_and_frees_its_owner(command: Command, grace: str) -> None:
    made = ("workspaces", "create", "--name", "Pier", "--slug", "pier", "--owner", grace)
    pier = command.json(*made)
    command.json("tokens", "create", "--workspace", "pier", "--scope", "shares:read")
    deleted = command.json("workspaces", "delete", "pier", "--yes")
    assert deleted == {"id": pier["id"], "slug": "pier"}
    assert [each["slug"] for each in command.json("workspaces", "list")["workspaces"]] == ["acme"]
    assert "pier" not in [token["workspace"] for token in command.json("tokens", "list")["tokens"]]
    said = command.refusal("workspaces", "delete", "pier", "--yes")
    assert "There is no workspace with the slug pier" in said
    assert "slug: This slug is already in use" in command.refusal(*made)
    assert command.json("users", "delete", grace, "--yes")["email"] == grace


def test_what_cannot_be_undone_is_asked_for(command: Command, grace: str) -> None:
    deletions = [("users", "delete", grace), ("clients", "delete", "dg_ci_unknown")]
    for arguments in [*deletions, ("workspaces", "delete", "acme")]:
        said = command.refusal(*arguments, status=2)
        assert said == "This cannot be undone: add --yes, or run it in a terminal."
    assert command.json("users", "show", grace)["email"] == grace


def test_a_terminal_asks_before_it_deletes(command: Command, grace: str) -> None:
    status, shown = typed(command, "users", "delete", grace, lines=["n"])
    assert (status, "This cannot be undone. Continue? [y/N]: n" in shown) == (130, True)
    assert command.json("users", "show", grace)["email"] == grace
    status, shown = typed(command, "users", "delete", grace, lines=["y"])
    assert (status, f"Deleted the user {grace}" in shown) == (0, True)
    assert [user["email"] for user in command.json("users", "list")["users"]] == [OWNER]


def test_workspaces_are_listed_and_shown(command: Command) -> None:
    (listed,) = command.json("workspaces", "list")["workspaces"]
    assert (listed["slug"], listed["name"], listed["status"]) == ("acme", "Acme", "created")
    shown = command.json("workspaces", "show", "acme")
    assert shown.items() >= listed.items()
    lines = command.run("workspaces", "show", "acme").stdout.splitlines()
    assert ["slug", "acme"] in [line.split() for line in lines]
    assert "no workspace with the slug nowhere" in command.refusal("workspaces", "show", "nowhere")


def test_a_token_is_shown_by_its_id_or_itself(command: Command) -> None:
    made = command.json("tokens", "create", "--workspace", "acme", "--scope", "shares:read")
    shown = command.json("tokens", "show", made["id"])
    assert (shown["workspace"], shown["scopes"]) == ("acme", ["shares:read"])
    assert command.json("tokens", "show", made["token"]) == shown
    assert made["token"] not in command.run("tokens", "show", made["token"]).stdout
    command.json("tokens", "revoke", made["id"])
    said = command.refusal("tokens", "show", made["id"])
    assert said == "There is no such valid token: `duograph tokens list` shows ids."


def test_clients_are_listed_shown_and_deleted(command: Command) -> None:
    assert command.run("clients", "list").stdout == "There are no clients.\n"
    made = command.json("clients", "create", "--name", "Books", *REDIRECT, "--owner", OWNER)
    (listed,) = command.json("clients", "list")["clients"]
    assert (listed["client_id"], listed["name"], listed["owner"]) == (made["client_id"], "Books", OWNER)
    assert command.json("clients", "show", made["client_id"]) == listed
    assert made["client_secret"] not in command.run("clients", "show", made["client_id"]).stdout
    assert command.json("clients", "delete", made["client_id"], "--yes") == listed
    said = command.refusal("clients", "show", made["client_id"])
    assert said == "There is no such client: `duograph clients list` shows their ids."
