"""A gateway killed while it receives events loses none that it has acknowledged and counts none twice."""

import asyncio
import contextlib
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.support.command import Command, Process
from tests.support.own_databases import own_database

WRITERS, EVENTS_AT_A_TIME, ANSWERS_BEFORE_THE_KILL = 4, 20, 30


@pytest.fixture
async def command(database_url: str, tmp_path: Path) -> Command:
    """Runs commands on a database of its own, on the tests' server."""
    url = await own_database(database_url, tmp_path)
    return Command(tmp_path, {"DUOGRAPH_DATABASE_URL": url, "DUOGRAPH_RATE_LIMIT": "0"})


@pytest.fixture
def start(command: Command) -> Iterator[Callable[[], tuple[Process, str]]]:
    """Starts gateways and returns each with its address; kills those that still run at the end."""
    processes: list[Process] = []

    def begin() -> tuple[Process, str]:
        process = serve(command)
        processes.append(process)
        assert process.stdout is not None
        with process.stdout as said:
            line = said.readline()
        assert line, (command.directory / "log").read_text()
        return process, json.loads(line)["url"]

    yield begin
    for process in processes:
        process.kill()
        process.wait()


def serve(command: Command) -> Process:
    with (command.directory / "log").open("a") as log:
        return command.start("serve", "--port", "0", "--json", stdout=subprocess.PIPE, stderr=log)


async def ingest_until_killed(process, url, token) -> set[str]:
    """Send batches from several writers, kill the gateway meanwhile, and return what it acknowledged."""
    answered: set[str] = set()

    async def keep_sending(client):
        while True:
            ids = [uuid4().hex for _ in range(EVENTS_AT_A_TIME)]
            events = [
                {"name": "read", "external_id": id, "external_customer_id": f"reader-{id[0]}"} for id in ids
            ]
            answer = await client.post("/api/events/ingest", json={"events": events})
            assert answer.status_code == 201, answer.text
            answered.update(ids)
            if len(answered) >= ANSWERS_BEFORE_THE_KILL * EVENTS_AT_A_TIME:
                process.send_signal(signal.SIGKILL)

    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=url, headers=headers) as client:
        senders = [asyncio.create_task(keep_sending(client)) for _ in range(WRITERS)]
        for sender in senders:
            with contextlib.suppress(httpx.TransportError):
                await sender
    await asyncio.to_thread(process.wait)
    return answered


async def test_cells_are_what_the_log_says_after_a_kill_during_ingest(command, start):
    owner = ("--email", "ada@example.com")
    await asyncio.to_thread(command.json, "users", "create", *owner, stdin="a long password")
    made = ("--name", "Acme", "--slug", "acme", "--owner", "ada@example.com")
    await asyncio.to_thread(command.json, "workspaces", "create", *made)
    token = (await asyncio.to_thread(command.json, "tokens", "create", "--workspace", "acme"))["token"]
    answered: set[str] = set()
    for _ in range(3):
        process, url = await asyncio.to_thread(start)
        answered |= await ingest_until_killed(process, url, token)
    verified = await asyncio.to_thread(command.json, "metrics", "verify")
    assert verified["cells"] > 0
    assert verified["differences"] == 0
    process, url = await asyncio.to_thread(start)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=url, headers=headers) as client:
        kept = await client.get("/api/events/", params={"source": "user", "limit": 1})
    process.terminate()
    await asyncio.to_thread(process.wait)
    assert kept.json()["meta"]["total"] >= len(answered)
