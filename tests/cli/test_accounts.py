"""Users, workspaces, their review and their limits from the command line."""

import sqlite3
from contextlib import closing
from uuid import uuid4

import pytest

from gateway.settings.row_quotas import BYTE_QUOTAS, ROW_QUOTAS
from gateway.settings.settings import Settings
from tests.cli.conftest import OWNER
from tests.support.commands.command import Command


def test_a_new_user_is_given_by_id_and_address(command: Command) -> None:
    user = command.json("users", "create", "--email", "grace@example.com", stdin="another long password\n")
    assert user.keys() == {"id", "email"}
    assert user["email"] == "grace@example.com"


def test_a_password_is_kept_as_an_argon2_hash_of_64_mib(command: Command) -> None:
    with closing(sqlite3.connect(command.directory / "var" / "duograph.sqlite")) as connection:
        (password_hash,) = connection.execute("SELECT password_hash FROM users").fetchone()
    assert password_hash.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_an_address_that_has_a_user_is_refused_in_any_case(command: Command) -> None:
    said = command.refusal("users", "create", "--email", OWNER.upper(), stdin="another long password")
    assert said == ("A user with the email address ADA@EXAMPLE.COM already exists: choose another address.")


def test_every_problem_with_a_user_is_named_in_one_sentence(command: Command) -> None:
    said = command.refusal("users", "create", "--email", "ada", stdin="short\n")
    assert said.startswith("email: Input should be an email address")
    assert "; password: String should have at least 12 characters." in said


@pytest.mark.parametrize(
    "password", ["password1234", "aaaaaaaaaaaa", " " * 12, "grace@example.com", "duograph1234"]
)
def test_a_password_that_is_easy_to_guess_is_refused(command: Command, password: str) -> None:
    said = command.refusal("users", "create", "--email", "grace@example.com", stdin=password)
    assert said == "password: This password is easy to guess: choose a longer or less common one."


def test_a_new_workspace_is_printed_as_rest_gives_it(command: Command) -> None:
    made = command.json("workspaces", "create", "--name", "Harbour", "--slug", "harbour", "--owner", OWNER)
    assert (made["slug"], made["status"], made["modified_at"]) == ("harbour", "created", None)
    assert made["customer_portal_settings"] == {"usage": {"show": True}}


@pytest.mark.parametrize(
    ("slug", "owner", "reason"),
    [
        ("acme", OWNER, "slug: "),
        ("graphql", OWNER, "slug: This slug is reserved"),
        ("two words", OWNER, "slug: String should match pattern"),
        ("harbour", "nobody@example.com", "There is no user with the address nobody@example.com: use "),
    ],
    ids=["taken", "reserved", "malformed", "nobody's"],
)
def test_a_workspace_that_the_api_would_refuse_is_refused(
    command: Command, slug: str, owner: str, reason: str
) -> None:
    said = command.refusal("workspaces", "create", "--name", "Harbour", "--slug", slug, "--owner", owner)
    assert said.startswith(reason)


def test_a_workspace_is_copied_for_tests_on_behalf_of_a_member(command: Command) -> None:
    made = command.json(
        "workspaces", "copy", "acme", "--owner", OWNER, "--name", "Trial", "--slug", "trial", "--history"
    )
    assert (made["slug"], made["name"], made["is_test"]) == ("trial", "Trial", True)
    assert "trial" in command.json("workspaces", "show", "trial")["slug"]
    said = command.refusal("workspaces", "copy", "acme", "--owner", OWNER, "--slug", "graphql")
    assert said.startswith("slug: This slug is reserved")
    command.json("users", "create", "--email", "grace@example.com", stdin="another long password")
    assert "no such workspace" in command.refusal(
        "workspaces", "copy", "acme", "--owner", "grace@example.com"
    )


def test_a_review_moves_only_along_the_allowed_moves(command: Command) -> None:
    assert (
        command.json("workspaces", "status", "acme", "onboarding_started")["status"] == "onboarding_started"
    )
    said = command.refusal("workspaces", "status", "acme", "active")
    assert said == "The status can change from onboarding_started only to initial_review."
    assert "nowhere" in command.refusal("workspaces", "status", "nowhere", "active")


def test_a_limit_can_be_set_and_turned_off(command: Command) -> None:
    for limit in (1200, 0):
        answer = command.json("limits", "set", "acme", str(limit))
        assert answer == {"slug": "acme", "requests_per_minute": limit}
    assert "'N'" in command.refusal("limits", "set", "acme", "--", "-1", status=2)
    assert "no workspace with the slug nowhere" in command.refusal("limits", "set", "nowhere", "5")


def test_what_a_workspace_may_store_can_be_set_and_is_shown(command: Command) -> None:
    shown = command.json("limits", "show", "acme")
    assert shown == {
        "slug": "acme",
        "requests_per_minute": Settings.model_fields["rate_limit"].default,
        "stored_bytes": 0,
        "open_uploads": 0,
        "storage_quota": 100 * 1024**3,
        "open_upload_quota": 500,
        "rows": dict.fromkeys(ROW_QUOTAS, 0) | shown["rows"],
        "row_quotas": ROW_QUOTAS,
        "bytes": dict.fromkeys(BYTE_QUOTAS, 0) | shown["bytes"],
        "byte_quotas": BYTE_QUOTAS,
    }
    changed = command.json("limits", "set", "acme", "--storage-quota", "5000", "--open-upload-quota", "0")
    assert changed == {"slug": "acme", "storage_quota": 5000, "open_upload_quota": 0}
    assert command.json("limits", "show", "acme") == {**shown, **changed}
    command.json("limits", "set", "acme", "7")
    said = command.run("limits", "show", "acme").stdout
    assert "acme may make 7 calls per minute." in said
    assert "of at most 4.9 KB" in said
    assert "Name a limit" in command.refusal("limits", "set", "acme")
    assert "no workspace with the slug nowhere" in command.refusal("limits", "show", "nowhere")


def test_how_many_rows_a_workspace_may_have_can_be_set_and_is_shown(command: Command) -> None:
    changed = command.json("limits", "set", "acme", "--rows", "events=1000", "--rows", "shares=0")
    assert changed == {"slug": "acme", "row_quotas": {"events": 1000, "shares": 0}}
    command.json("limits", "set", "acme", "--rows", "customers=7")
    own = {"events": 1000, "shares": 0, "customers": 7}
    assert command.json("limits", "show", "acme")["row_quotas"] == {**ROW_QUOTAS, **own}
    said = command.run("limits", "show", "acme").stdout
    assert "events, of at most 1,000." in said
    assert "shares, of any number." in said
    for wrong in ("birds=3", "events=-1", "events"):
        assert f"'{wrong}' is not KIND=N" in command.refusal("limits", "set", "acme", "--rows", wrong)


def test_how_many_bytes_the_texts_of_a_workspace_may_have_can_be_set_and_is_shown(command: Command) -> None:
    changed = command.json("limits", "set", "acme", "--bytes", "events=5000", "--rows", "events=7")
    assert changed == {"slug": "acme", "row_quotas": {"events": 7}, "byte_quotas": {"events": 5000}}
    shown = command.json("limits", "show", "acme")
    assert shown["byte_quotas"] == {**BYTE_QUOTAS, "events": 5000}
    assert shown["row_quotas"]["events"] == 7
    assert "(events), of at most 4.9 KB." in command.run("limits", "show", "acme").stdout
    said = command.run("limits", "set", "acme", "--bytes", "events=0").stdout
    assert "bytes of events without a limit" in said
    assert "'files=3' is not KIND=N" in command.refusal("limits", "set", "acme", "--bytes", "files=3")


def test_the_revenue_of_the_next_review_can_be_set_and_taken_away(command: Command) -> None:
    for amount, kept in ((500_000, 500_000), (0, None)):
        answer = command.json("workspaces", "review-threshold", "acme", str(amount))
        assert answer == {"slug": "acme", "next_review_threshold": kept}
    said = command.run("workspaces", "review-threshold", "acme", "900").stdout
    assert said == "The workspace acme is next reviewed at a revenue of 900 in minor units.\n"
    said = command.run("workspaces", "review-threshold", "acme", "0").stdout
    assert said == "The workspace acme is next reviewed at no revenue.\n"
    for wrong in ("-1", str(2**31)):
        assert "'N'" in command.refusal("workspaces", "review-threshold", "acme", "--", wrong, status=2)
    assert "nowhere" in command.refusal("workspaces", "review-threshold", "nowhere", "5")


def test_without_json_a_short_text_is_printed(command: Command) -> None:
    outcome = command.run("limits", "set", "acme", "1200")
    assert outcome.stdout == "The workspace acme may have 1200 calls per minute.\n"


def test_an_operator_removes_the_factors_of_a_user_who_lost_them(command: Command) -> None:
    file = command.directory / "var" / "duograph.sqlite"
    with closing(sqlite3.connect(file)) as connection, connection:
        (owner,) = connection.execute("SELECT id FROM users").fetchone()
        at = "2026-01-31 09:30:00.000000"
        connection.execute(
            "INSERT INTO totp_secrets (created_at, user_id, sealed, last_step) VALUES (?, ?, '', 0)",
            (at, owner),
        )
        connection.execute(
            "INSERT INTO passkeys (created_at, id, user_id, name, credential_id, public_key, sign_count,"
            " transports) VALUES (?, ?, ?, 'Phone', 'a', '', 0, '[]')",
            (at, uuid4().hex, owner),
        )
    reset = command.json("users", "reset-factors", OWNER.upper())
    assert reset | {"id": ""} == {
        "id": "",
        "email": OWNER,
        "totp": True,
        "passkeys": 1,
        "recovery_codes": 0,
    }
    with closing(sqlite3.connect(file)) as connection:
        for table in ("totp_secrets", "passkeys", "recovery_codes"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        (subject,) = connection.execute("SELECT subject FROM mails").fetchone()
    assert subject == "All second factors were removed"
    said = command.refusal("users", "reset-factors", "nobody@example.com")
    assert said.startswith("There is no user with the address nobody@example.com")


def test_members_are_listed_and_given_roles(command: Command) -> None:
    (member,) = command.json("workspaces", "members", "acme")["members"]
    assert (member["email"], member["role"], member["expires_at"]) == (OWNER, "owner", None)
    said = command.refusal("workspaces", "role", "acme", OWNER, "member")
    assert said == "This is the last owner of the workspace: make another member an owner first."
    kept = command.json("workspaces", "role", "acme", OWNER.upper(), "owner")
    assert (kept["slug"], kept["role"]) == ("acme", "owner")
    command.json("users", "create", "--email", "grace@example.com", stdin="another orchard lantern")
    said = command.refusal("workspaces", "role", "acme", "grace@example.com", "owner")
    assert said == "This user is not a member of the workspace."
