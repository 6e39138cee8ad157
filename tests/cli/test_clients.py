"""OAuth clients and signing keys from the command line."""

import re

import pytest

from tests.cli.conftest import OWNER
from tests.support.command import Command

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
