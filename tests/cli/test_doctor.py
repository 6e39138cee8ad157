"""The doctor: what is looked at, and what is said where it is not well."""

import json

from tests.support.command import Command


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


def test_each_fault_is_shown_with_its_remedy_and_fails_the_command(empty: Command) -> None:
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
    assert checks["mail"]["message"] == "Emails cannot be sent (SMTPConnectError): correct DUOGRAPH_SMTP_URL."
    assert outcome.status == 1
    named = "database, object store, redis, mail"
    assert json.loads(outcome.stderr)["detail"] == f"These checks need attention: {named}."


def test_settings_that_cannot_be_used_are_a_finding(empty: Command) -> None:
    outcome = empty.run("doctor", DUOGRAPH_RATE_LIMIT="many")
    assert outcome.stdout.startswith("FAIL  settings: DUOGRAPH_RATE_LIMIT cannot be used: ")
    assert (outcome.status, len(outcome.stdout.splitlines())) == (1, 1)


def test_a_risk_is_a_warning_that_only_a_strict_doctor_fails_for(command: Command) -> None:
    file = command.directory / "var" / "duograph.sqlite"
    file.chmod(0o644)
    risky = {
        "DUOGRAPH_ENV": "production",
        "DUOGRAPH_SECRET_KEY": "Vb0x1mQk7cPz4LrT9yHs2WdG6nJf3EuA",
        "DUOGRAPH_BASE_URL": "https://shop.example.com/api",
        "DUOGRAPH_RATE_LIMIT": "0",
    }
    report = command.json("doctor", "--workers", "4", **risky)
    assert report["ok"] is True
    warned = [(check["name"], check["message"]) for check in report["checks"] if check["status"] == "warn"]
    assert [name for name, _ in warned] == [
        *("redis", "database", "settings", "settings", "mail", "object store", "database"),
    ]
    for variable in ("REDIS_URL", "TRUSTED_PROXIES", "SMTP_URL", "OBJECT_STORE"):
        assert [message for _, message in warned if f"DUOGRAPH_{variable}" in message], variable
    assert warned[-1][1].endswith("run `chmod 600 var/duograph.sqlite*`.")
    strict = command.run("doctor", "--strict", "--workers", "4", **risky)
    assert strict.status == 1
    assert strict.stderr == ("These checks need attention: redis, database, settings, mail, object store.\n")
    assert "\nwarn  mail: Emails are written to DUOGRAPH_OUTBOX and not sent" in strict.stdout


def test_what_suits_a_laptop_is_a_warning_in_production(command: Command) -> None:
    production = {"DUOGRAPH_ENV": "production", "DUOGRAPH_SECRET_KEY": "Vb0x1mQk7cPz4LrT9yHs2WdG6nJf3EuA"}
    at_home = {"DUOGRAPH_BASE_URL": "http://127.0.0.1:8000/api"}
    refused = command.run("doctor", **production, **at_home)
    assert (refused.status, refused.stdout.partition(":")[0]) == (1, "FAIL  settings")
    report = command.json("doctor", DUOGRAPH_INSECURE_HTTP="true", **production, **at_home)
    warned = [check["name"] for check in report["checks"] if check["status"] == "warn"]
    assert warned == ["settings", "mail", "object store"]


def test_a_laptop_has_nothing_to_be_warned_of(command: Command) -> None:
    assert command.run("doctor", "--strict").status == 0
