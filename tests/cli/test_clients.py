"""OAuth clients and signing keys from the command line."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import OWNER
from tests.support.commands.command import Command

OLD, NEW = "the secret key before, of 32 characters", "the secret key from now on, 32 characters"
REDIRECT = ("--redirect-uri", "https://app.example.com/callback")


def test_a_client_is_made_with_its_secret(command: Command) -> None:
    made = command.json("clients", "create", "--name", "Books", *REDIRECT, "--owner", OWNER)
    assert made.keys() == {"client_id", "client_secret"}
    assert re.fullmatch(r"dg_ci_\w{24}", made["client_id"])
    assert re.fullmatch(r"dg_cs_\w{36}", made["client_secret"])


def test_a_public_client_has_no_secret(command: Command) -> None:
    scopes = ("--scope", "openid", "--scope", "shares:read")
    made = command.json("clients", "create", "--name", "Books", *REDIRECT, *scopes, "--public")
    assert made.keys() == {"client_id"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--redirect-uri", "http://app.example.com/"), "redirect_uris.0: Input should be an https address"),
        ((*REDIRECT, "--scope", "oauth_clients:read"), "scopes.0: Input should be one of these scopes"),
        (
            (*REDIRECT, "--owner", "nobody@example.com"),
            "There is no user with the address nobody@example.com",
        ),
    ],
    ids=["address", "scope", "owner"],
)
def test_a_client_that_makes_no_sense_is_refused(
    command: Command, arguments: tuple[str, ...], reason: str
) -> None:
    assert command.refusal("clients", "create", "--name", "Books", *arguments).startswith(reason)


def test_each_rotation_makes_another_key(command: Command) -> None:
    first, second = command.json("keys", "rotate"), command.json("keys", "rotate")
    assert first.keys() == {"kid"}
    assert first != second


def test_a_new_secret_key_seals_what_the_accepted_one_did(command: Command, tmp_path: Path) -> None:
    accepted = tmp_path / "accepted"
    accepted.write_text(f"{OLD}\n{'another key of 32 characters and more'}\n")
    command.json("keys", "rotate", DUOGRAPH_SECRET_KEY=OLD)
    both = {"DUOGRAPH_SECRET_KEY": NEW, "DUOGRAPH_ACCEPTED_SECRET_KEYS_FILE": str(accepted)}
    assert command.json("keys", "reseal", **both) == {"anew": 1, "current": 0, "unreadable": 0}
    assert command.json("keys", "reseal", DUOGRAPH_SECRET_KEY=NEW) == {
        "anew": 0,
        "current": 1,
        "unreadable": 0,
    }
    lost = command.run("keys", "reseal", DUOGRAPH_SECRET_KEY=OLD)
    assert "1 are of keys that are not in DUOGRAPH_ACCEPTED_SECRET_KEYS" in lost.stdout
    short = command.refusal("keys", "reseal", DUOGRAPH_ACCEPTED_SECRET_KEYS="too short")
    assert "DUOGRAPH_ACCEPTED_SECRET_KEYS cannot be used: it should have 32 characters or more" in short
