"""Several processes: forked from one with nothing to hand on, replaced when they die, stopped together.

Linux shows them in /proc.
"""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from gateway.http.connections import LAST_SECONDS
from tests.support.commands.command import Command
from tests.support.commands.serving import logged, serving, started
from tests.support.measures.patience import eventually


def is_running(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def children_of(parent: int) -> set[int]:
    return {int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()}


def is_accepted(client: socket.socket) -> bool:
    """Whether a process has taken the connection: until then the kernel shows its end without an inode."""
    ports = [f"{end[1]:04X}" for end in (client.getpeername(), client.getsockname())]
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, *ends, _, _, _, _, _, _, inode = line.split()[:10]
        if [end.rpartition(":")[2] for end in ends] == ports:
            return inode != "0"
    return False


def stopping(command: Command) -> int:
    """How many processes have begun to stop."""
    return (command.directory / "log").read_text().count("Shutting down")


def two_that_serve(command: Command) -> list[int]:
    return eventually(lambda: len(pids := started(command)) == 2 and pids)


def test_the_parent_has_no_thread_and_no_connection_to_hand_on(own_start: Command) -> None:
    with serving(own_start, "--workers", "2") as said:
        assert httpx.get(said["url"] + "/ready").status_code == 200
        parent = parent_of(two_that_serve(own_start)[0])
        assert len(list(Path(f"/proc/{parent}/task").iterdir())) == 1
        files = [str(link.readlink()) for link in Path(f"/proc/{parent}/fd").iterdir()]
        assert not [file for file in files if "sqlite" in file]
        # The listener, and the pair on which the parent's own signals arrive.
        assert len([file for file in files if file.startswith("socket:")]) == 3


def test_a_process_that_dies_is_replaced(command: Command) -> None:
    with serving(command, "--workers", "2") as said:
        killed, kept = two_that_serve(command)
        parent = parent_of(kept)
        os.kill(killed, signal.SIGKILL)
        third = eventually(lambda: len(pids := started(command)) == 3 and pids[2])
        assert children_of(parent) == {kept, third}
        assert httpx.get(said["url"] + "/ready").status_code == 200
    (died,) = [line for line in logged(command) if line["event"] == "a worker died"]
    assert (died["pid"], died["status"]) == (killed, -signal.SIGKILL)
    assert not any(map(is_running, (kept, third)))


def test_on_a_hang_up_each_process_is_replaced_while_the_gateway_answers(command: Command) -> None:
    with serving(command, "--workers", "2") as said:
        before = two_that_serve(command)
        parent = parent_of(before[0])
        os.kill(parent, signal.SIGHUP)
        while len(started(command)) < 4 or any(map(is_running, before)):
            assert httpx.get(said["url"] + "/health").status_code == 200
        # One that has ended is a child until the parent has looked at it.
        eventually(lambda: children_of(parent) == set(started(command)[2:]))
    assert not [line for line in logged(command) if line["event"] == "a worker died"]


def test_processes_are_added_and_removed_by_signals(command: Command) -> None:
    with serving(command, "--workers", "2"):
        parent = parent_of(two_that_serve(command)[0])
        for number, count in ((signal.SIGTTIN, 3), (signal.SIGTTOU, 2)):
            os.kill(parent, number)
            eventually(lambda count=count: len(children_of(parent)) == count)


def test_a_process_whose_parent_is_killed_stops(command: Command) -> None:
    pids: list[int] = []
    # `serving` expects a regular end.
    with pytest.raises(AssertionError), serving(command, "--workers", "2"):
        _kill_the_parent(pids := two_that_serve(command))
    assert not any(map(is_running, pids))


def test_a_request_that_has_begun_is_answered_before_the_stop(command: Command) -> None:
    with serving(command, "--workers", "2") as said:
        parent = parent_of(two_that_serve(command)[0])

        def body() -> Iterator[bytes]:
            yield b'{"query": '
            os.kill(parent, signal.SIGTERM)
            time.sleep(1)
            yield b'"{ __typename }"}'

        headers = {"Content-Type": "application/json"}
        answer = httpx.post(said["graphql_url"], content=body(), headers=headers)
    assert answer.json() == {"data": {"__typename": "Query"}}


def test_a_client_that_has_just_connected_is_answered_before_the_stop(command: Command) -> None:
    answer = b""
    while not answer:
        answer, seconds = asked_during_the_stop(command)
        # A machine that stands still for that long leaves the client no time: then once more.
        assert answer or seconds > LAST_SECONDS
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"connection: close" in answer


def asked_during_the_stop(command: Command) -> tuple[bytes, float]:
    """What a client gets that connected before the signal and asks after it, and how long after it."""
    answer = b""
    with serving(command, "--workers", "2") as said:
        parent = parent_of(two_that_serve(command)[0])
        address = urlsplit(said["url"])
        with socket.create_connection((address.hostname, address.port)) as client:
            eventually(lambda: is_accepted(client))
            signalled = time.monotonic()
            os.kill(parent, signal.SIGTERM)
            # The request arrives after the signal has, at whichever process is to answer it.
            eventually(lambda: stopping(command) == 2)
            with suppress(ConnectionError):
                client.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
                answer = client.makefile("rb").read()
            return answer, time.monotonic() - signalled


def _kill_the_parent(pids: list[int]) -> None:
    os.kill(parent_of(pids[0]), signal.SIGKILL)
    eventually(lambda: not any(map(is_running, pids)))
