"""The doctor: what is looked at, and what is said where it is not well."""

import json

from tests.cli.command import Command


def test_all_is_well_where_all_is_there(command: Command) -> None:
    report = command.json("doctor")
    assert report["ok"] is True
    assert [check["name"] for check in report["checks"]] == [
        "settings",
        "database",
        "read replica",
        "object store",
        "redis",
        "mail",
    ]
    assert all(check["ok"] for check in report["checks"])


def test_each_fault_is_told_with_what_to_do_and_fails_the_command(empty: Command) -> None:
    (empty.directory / "file").touch()
    outcome = empty.run(
        "doctor",
        "--json",
        DUOGRAPH_REDIS_URL="redis://127.0.0.1:1",
        DUOGRAPH_OBJECT_STORE="file/objects",
        DUOGRAPH_SMTP_URL="smtp://ada:hush@127.0.0.1:1",
    )
    checks = {check["name"]: check for check in json.loads(outcome.stdout)["checks"]}
    assert [name for name, check in checks.items() if not check["ok"]] == [
        "database",
        "object store",
        "redis",
        "mail",
    ]
    assert "run `duograph migrate`" in checks["database"]["message"]
    assert "correct its permissions or DUOGRAPH_OBJECT_STORE" in checks["object store"]["message"]
    assert "correct DUOGRAPH_REDIS_URL" in checks["redis"]["message"]
    assert checks["mail"]["message"] == "Mails cannot be sent (SMTPConnectError): correct DUOGRAPH_SMTP_URL."
    assert outcome.status == 1
    named = "database, object store, redis, mail"
    assert outcome.stderr == f"These need your attention, as said above: {named}.\n"


def test_settings_that_cannot_be_used_are_a_finding(empty: Command) -> None:
    outcome = empty.run("doctor", DUOGRAPH_RATE_LIMIT="many")
    assert outcome.stdout.startswith("FAIL  settings: DUOGRAPH_RATE_LIMIT cannot be used: ")
    assert (outcome.status, len(outcome.stdout.splitlines())) == (1, 1)
