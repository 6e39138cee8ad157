"""A socket of the process manager: connections wait in it while one server follows another."""

import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import httpx
import pytest

from tests.support.commands.command import PROGRAM, Command
from tests.support.commands.serving import serving

# What systemd does: the socket is descriptor 3, and the variables name it and the process that it is for.
HAND_OVER = """
import os, sys
number, program = int(sys.argv[1]), sys.argv[2:]
if number != 3:
    os.dup2(number, 3)
os.set_inheritable(3, True)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
os.execv(program[0], program)
"""
Giving = Callable[[socket.socket], Command]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        yield listener


@pytest.fixture
def giving(command: Command) -> Giving:
    """The command as a process manager starts it, with this socket."""

    def given(handed: socket.socket) -> Command:
        prefix = (sys.executable, "-c", HAND_OVER, str(handed.fileno()))
        return replace(command, program=(*prefix, *PROGRAM))

    return given


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_uses_the_socket_that_it_is_given(
    giving: Giving, listener: socket.socket, workers: str
) -> None:
    command = giving(listener)
    with serving(command, "--workers", workers, handed=[listener.fileno()]) as said:
        assert said["url"] == f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert httpx.get(said["url"] + "/ready").status_code == 200


@pytest.mark.long
def test_a_client_that_connects_between_two_servers_is_answered_by_the_second(
    giving: Giving, listener: socket.socket
) -> None:
    command = giving(listener)
    with serving(command, handed=[listener.fileno()]) as said:
        assert httpx.get(said["url"] + "/health").status_code == 200
    with socket.create_connection(listener.getsockname()) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        with serving(command, handed=[listener.fileno()]):
            answer = client.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")


def test_the_port_of_the_given_socket_cannot_serve_metrics_too(
    giving: Giving, listener: socket.socket
) -> None:
    port = listener.getsockname()[1]
    handed = [listener.fileno()]
    refused = giving(listener).refusal("serve", handed=handed, DUOGRAPH_METRICS_PORT=str(port))
    assert refused == f"Port {port} serves the API: choose another DUOGRAPH_METRICS_PORT."


def test_another_kind_of_socket_is_refused(giving: Giving) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        other.set_inheritable(True)
        command = giving(other)
        refused = command.refusal("serve", handed=[other.fileno()])
    assert (
        refused == "The process manager must hand over one TCP socket: correct the ListenStream of the unit."
    )
