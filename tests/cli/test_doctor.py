"""The doctor: what is looked at, and what is said where it is not well."""

import json
import socket
import ssl
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from gateway.cli.upkeep.warnings import warnings_of
from gateway.settings.settings import Settings
from tests.support.commands.command import Command
from tests.support.measures.patience import eventually
from tests.support.servers.mail_server import make_certificate


def test_all_is_well_where_all_is_there(command: Command) -> None:
    report = command.json("doctor")
    assert report["ok"] is True
    assert [check["name"] for check in report["checks"]] == [
        "settings",
        "database",
        "read replica",
        "object store",
        "scanner",
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
        DUOGRAPH_CLAMD_URL="tcp://127.0.0.1:1",
    )
    checks = {check["name"]: check for check in json.loads(outcome.stdout)["checks"]}
    assert [name for name, check in checks.items() if not check["ok"]] == [
        "database",
        "object store",
        "scanner",
        "redis",
        "mail",
    ]
    assert "run `duograph migrate`" in checks["database"]["message"]
    assert "correct its permissions or DUOGRAPH_OBJECT_STORE" in checks["object store"]["message"]
    assert "start clamd, or correct DUOGRAPH_CLAMD_URL" in checks["scanner"]["message"]
    assert "correct DUOGRAPH_REDIS_URL" in checks["redis"]["message"]
    assert checks["mail"]["message"] == "Emails cannot be sent (SMTPConnectError): correct DUOGRAPH_SMTP_URL."
    assert outcome.status == 1
    named = "database, object store, scanner, redis, mail"
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


REMOTE = {
    "DUOGRAPH_DATABASE_URL": "postgresql://ada:x@db.example.com/duograph?sslmode=require",
    "DUOGRAPH_DATABASE_READ_URL": "postgresql://ada:x@standby.example.com/duograph",
    "DUOGRAPH_REDIS_URL": "redis://:x@redis.example.com/0",
    "DUOGRAPH_S3_ENDPOINT": "http://store.example.com:9000",
}


def warned_of(workers: int = 1, **settings: str) -> list[tuple[str, str]]:
    """What is warned of in production."""
    production = {"DUOGRAPH_ENV": "production", "DUOGRAPH_SECRET_KEY": "Vb0x1mQk7cPz4LrT9yHs2WdG6nJf3EuA"}
    places = {"DUOGRAPH_BASE_URL": "https://api.example.com/api", "DUOGRAPH_OBJECT_STORE": "s3://duograph"}
    return [*warnings_of(Settings.from_environ({**production, **places, **settings}), workers)]


def plain_connections(**settings: str) -> set[str]:
    return {topic for topic, sentence in warned_of(**settings) if "DUOGRAPH_PLAIN_HOSTS" in sentence}


def test_mails_from_nobody_are_warned_of_and_what_is_all_set_is_not() -> None:
    everything = {
        "DUOGRAPH_DATABASE_URL": "postgresql:///duograph?host=/run/postgresql",
        "DUOGRAPH_TRUSTED_PROXIES": "10.0.0.0/8",
        "DUOGRAPH_REDIS_URL": "redis://127.0.0.1",
        "DUOGRAPH_SMTP_URL": "smtps://mail.example.com",
    }
    sender = {"DUOGRAPH_MAIL_FROM": "Shop <shop@example.com>"}
    assert warned_of(workers=4, **everything, **sender) == []
    ((topic, sentence),) = warned_of(workers=4, **everything)
    assert (topic, sentence.rpartition(": ")[2]) == ("mail", "set DUOGRAPH_MAIL_FROM.")


def test_plain_connections_to_other_machines_are_warned_of() -> None:
    everything = {"database", "read replica", "redis", "object store"}
    assert plain_connections(**REMOTE) == everything
    names = ("db", "standby", "redis", "store")
    private = ", ".join(f"{name}.example.com" for name in names)
    assert plain_connections(**REMOTE, DUOGRAPH_PLAIN_HOSTS=private) == set()
    assert plain_connections(**REMOTE, DUOGRAPH_PLAIN_HOSTS="db.example.com") == everything - {"database"}
    safe = {
        "DUOGRAPH_DATABASE_URL": "postgresql://ada:x@db.example.com/duograph?sslmode=verify-full",
        "DUOGRAPH_DATABASE_READ_URL": "postgresql://ada:x@localhost/duograph",
        "DUOGRAPH_REDIS_URL": "rediss://:x@redis.example.com/0",
        "DUOGRAPH_S3_ENDPOINT": "https://store.example.com",
    }
    assert plain_connections(**safe) == set()
    assert plain_connections(DUOGRAPH_DATABASE_URL="postgresql:///duograph?host=/run/postgresql") == set()


def shaking(certificate: Path, shaken: list[str], name: str) -> int:
    """The port of a server with this certificate, which notes who goes on after seeing it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                if name == "database":
                    connection.recv(8)  # PostgreSQL is asked for TLS first.
                    connection.sendall(b"S")
                with context.wrap_socket(connection, server_side=True) as encrypted:
                    # A client of TLS 1.3 judges the certificate after its part of the handshake.
                    if encrypted.recv(1):
                        shaken.append(name)

    Thread(target=serve, daemon=True).start()
    return int(listener.getsockname()[1])


@pytest.mark.long
def test_servers_with_certificates_of_unknown_authorities_or_for_other_hosts_are_told_nothing(
    own_start: Command, tmp_path: Path
) -> None:
    own, unknown = make_certificate(tmp_path / "own.pem"), make_certificate(tmp_path / "unknown.pem")
    shaken: list[str] = []
    database, redis, store = (shaking(own, shaken, name) for name in ("database", "redis", "object store"))

    def examine(host: str, authority: Path) -> list[str]:
        shaken.clear()
        trusted = {name: str(authority) for name in ("PGSSLROOTCERT", "SSL_CERT_FILE", "AWS_CA_BUNDLE")}
        own_start.run(
            "doctor",
            DUOGRAPH_DATABASE_URL=f"postgresql://ada:x@{host}:{database}/duograph?sslmode=verify-full",
            DUOGRAPH_REDIS_URL=f"rediss://:x@{host}:{redis}/0",
            DUOGRAPH_OBJECT_STORE="s3://duograph",
            DUOGRAPH_S3_ENDPOINT=f"https://{host}:{store}",
            DUOGRAPH_S3_ACCESS_KEY_ID="x",
            DUOGRAPH_S3_SECRET_ACCESS_KEY="x",
            **trusted,
        )
        return sorted(set(shaken))

    assert examine("127.0.0.1", unknown) == []
    assert examine("localhost", own) == []
    # The doctor gives up a server that a busy machine keeps from an answer for five seconds.
    assert eventually(lambda: examine("127.0.0.1", own) == ["database", "object store", "redis"])
