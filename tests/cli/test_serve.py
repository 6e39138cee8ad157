"""Serving from the command line, and what a first start prints."""

import json
import re
import shlex
import socket
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.test_workers import two_that_serve
from tests.support.commands.command import PROGRAM, Command
from tests.support.commands.serving import logged, serving
from tests.support.measures.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
STRONG = "Vb0x1mQk7cPz4LrT9yHs2WdG6nJf3EuA"
PRODUCTION = {"DUOGRAPH_SECRET_KEY": STRONG, "DUOGRAPH_BASE_URL": "https://shop.example.com/api"}


def in_a_shell(line: str) -> Any:
    """What a line prints when it is pasted into a shell."""
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def has_ipv6() -> bool:
    """Whether this machine has its own address of IPv6."""
    with suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return True
    return False


def test_the_printed_commands_work_as_pasted_on_the_first_start_and_on_later_ones(empty: Command) -> None:
    names: list[list[str]] = []
    tokens = set()
    for command in (replace(empty, program=PROGRAM), empty):
        with serving(command, "--demo") as said:
            rest, graphql = map(in_a_shell, said["demo"]["commands"])
            tokens.add(said["demo"]["workspace_token"])
        assert [share["name"] for share in rest["data"]] == [
            share["name"] for share in graphql["data"]["shares"]["data"]
        ]
        assert rest["meta"]["total"] == 12
        names.append([share["name"] for share in rest["data"]])
    assert names[0] == names[1]
    assert len(tokens) == 1
    log = (empty.directory / "log").read_text()
    assert not tokens & set(re.findall(r"dg_wat_\w+", log))
    # Where in the code a line was written says nothing to who started it.
    assert "place" not in log


def test_make_run_serves_the_demo_at_its_port(empty: Command) -> None:
    shown = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "run", "PORT=9000"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    program, *arguments = shlex.split(shown.stdout.splitlines()[-1])
    assert program == ".venv/bin/duograph"
    assert arguments == ["serve", "--demo", "--host", "localhost", "--port", "9000"]


def test_addresses_follow_the_port_unless_they_are_set(empty: Command) -> None:
    with serving(empty) as said:
        # A name, to which passkeys can belong.
        assert said["url"].startswith("http://localhost:")
        assert said["base_url"] == f"{said['url']}/api"
        assert said["graphql_url"] == f"{said['url']}/graphql"
        assert said["demo"] is None
        assert httpx.get(said["url"] + "/ready").json()["status"] == "ok"
    with serving(empty, DUOGRAPH_BASE_URL="https://shop.example.com/api/") as said:
        assert said["base_url"] == "https://shop.example.com/api"
        assert said["graphql_url"] == "https://shop.example.com/graphql"


def test_requests_are_logged_by_template_status_and_id_without_query_or_credential(command: Command) -> None:
    token = command.json("tokens", "create", "--workspace", "acme")["token"]
    with serving(command) as said, httpx.Client(base_url=said["url"]) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        answers = [
            client.get("/api/shares/", params={"query": "hush"}),
            client.get("/api/shares/9f1c2d3e-0000-4000-8000-000000000000"),
            client.get("/no/such/hush"),
            client.post("/graphql", json={"query": "{ viewer { kind } }"}),
            client.get("/health"),
            client.get("/static/style.css"),
        ]
    lines = [line for line in logged(command) if line["event"] == "request"]
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [
        ("GET", "/api/shares/", 200),
        ("GET", "/api/shares/{id}", 404),
        ("GET", "unmatched", 404),
        ("POST", "/graphql", 200),
        ("GET", "/health", 200),
        ("GET", "/static", 200),
    ]
    assert [line["request_id"] for line in lines] == [answer.headers["x-request-id"] for answer in answers]
    assert all(line["milliseconds"] > 0 for line in lines)
    text = (command.directory / "log").read_text()
    assert "hush" not in text
    assert token not in text


def test_several_processes_share_one_port_and_one_secret(command: Command) -> None:
    token = command.json("tokens", "create", "--workspace", "acme")["token"]
    with serving(command, "--workers", "2", DUOGRAPH_ACCESS_LOG="false") as said:
        two_that_serve(command)
        for _ in range(8):
            answer = httpx.get(f"{said['base_url']}/shares/", headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == 200
    started = [line for line in logged(command) if line["event"].startswith("Started server process")]
    assert len(started) == 2
    assert not [line for line in logged(command) if line["event"] == "request"]


def test_a_taken_port_is_refused_in_a_sentence(empty: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = empty.refusal("serve", "--port", port)
    assert said.startswith(f"Port {port} of localhost cannot be used (")
    assert said.endswith("choose another --port.")


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")
def test_a_program_that_browsers_would_take_for_the_server_is_noticed(empty: Command) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as other:
        port = str(other.getsockname()[1])
        said = empty.refusal("serve", "--port", port)
    assert said == f"Another program answers on port {port} of localhost: choose another --port."


@pytest.mark.parametrize(
    ("arguments", "settings", "reason"),
    [
        ((), {}, "DUOGRAPH_SECRET_KEY is not set: production needs a key of 32 characters or more."),
        ((), {"DUOGRAPH_SECRET_KEY": "k" * 32}, "DUOGRAPH_SECRET_KEY can be guessed"),
        ((), {"DUOGRAPH_SECRET_KEY": STRONG}, "DUOGRAPH_BASE_URL is not set"),
        (("--demo",), PRODUCTION, "--demo is only for development"),
    ],
    ids=["no secret", "a weak secret", "no address", "demo data"],
)
def test_production_does_not_start_as_if_it_were_a_laptop(
    empty: Command, arguments: tuple[str, ...], settings: dict[str, str], reason: str
) -> None:
    said = empty.refusal("serve", "--port", "0", *arguments, DUOGRAPH_ENV="production", **settings)
    assert said.startswith(reason)
    assert not (empty.directory / "var").exists()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_start_that_fails_is_said_to_have_failed(own_start: Command, workers: str) -> None:
    # OpenTelemetry refuses a queue without places, once the process that serves begins.
    traced = {"DUOGRAPH_TRACES": "true", "OTEL_BSP_MAX_QUEUE_SIZE": "0"}
    outcome = own_start.run("serve", "--port", "0", "--workers", workers, **traced)
    assert (outcome.status, outcome.stdout) == (1, "")
    assert "max_queue_size" in outcome.stderr
    assert outcome.stderr.splitlines()[-1] == "The gateway could not start: see the log above."


def test_several_processes_close_what_stalls(empty: Command) -> None:
    with serving(empty, "--workers", "2", DUOGRAPH_STALL_SECONDS="1") as said:
        host, port = said["url"].removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: gate")
            assert connection.recv(65_536).startswith(b"HTTP/1.1 408 ")
            assert connection.recv(65_536) == b""


def test_a_start_warns_of_what_the_doctor_warns_of(command: Command) -> None:
    settings = PRODUCTION | {"DUOGRAPH_ENV": "production"}
    report = command.json("doctor", **settings)
    told = [check["message"] for check in report["checks"] if check["status"] == "warn"]
    with serving(command, **settings) as said:
        assert httpx.get(said["url"] + "/ready").status_code == 200
    warned = [line["event"] for line in logged(command) if line["level"] == "warning"]
    assert warned == told != []


def test_no_other_user_of_the_machine_can_read_what_is_kept(empty: Command) -> None:
    with serving(empty, "--demo") as said:
        assert httpx.get(said["url"] + "/ready").status_code == 200
    empty.json("doctor")
    kept = list((empty.directory / "var").rglob("*"))
    assert {path.name for path in kept} >= {"duograph.sqlite", "objects", "uploads", "outbox", "secret-key"}
    assert [path for path in [empty.directory / "var", *kept] if path.stat().st_mode & 0o077] == []


def test_a_process_that_crashes_writes_no_memory_to_a_file(command: Command) -> None:
    with serving(command, "--workers", "2") as said:
        assert httpx.get(said["url"] + "/health").status_code == 200
        limits = [Path(f"/proc/{pid}/limits").read_text() for pid in two_that_serve(command)]
    cores = [
        line.split() for text in limits for line in text.splitlines() if line.startswith("Max core file size")
    ]
    assert [line[4:6] for line in cores] == [["0", "0"]] * 2
