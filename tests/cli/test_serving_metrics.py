"""`duograph serve` with a port for Prometheus: processes give one answer, also after one is killed."""

import os
import signal
import socket

import httpx

from tests.cli.test_workers import started, two_that_serve
from tests.support.commands.command import Command
from tests.support.commands.serving import logged, serving
from tests.support.measures.patience import eventually
from tests.support.measures.scraping import Scraped
from tests.support.servers.ports import own_port

OK = {"surface": "page", "operation": "other", "outcome": "ok"}


def scrape(command: Command) -> Scraped:
    (port,) = [line["port"] for line in logged(command) if line["event"] == "metrics served"]
    return Scraped.of(httpx.get(f"http://127.0.0.1:{port}/metrics"))


def ask(url: str, times: int) -> None:
    """Each over a connection of its own, so that both processes answer."""
    for _ in range(times):
        assert httpx.get(f"{url}/health").status_code == 200


def counted(command: Command) -> float:
    return scrape(command).value("duograph_requests_total", **OK)


def test_processes_count_together_and_a_killed_one_takes_nothing_away(command: Command) -> None:
    with serving(command, "--workers", "2", DUOGRAPH_METRICS_PORT="0") as said:
        killed, _ = two_that_serve(command)
        ask(said["url"], 30)
        eventually(lambda: counted(command) == 30)
        eventually(lambda: scrape(command).value("duograph_processes") == 2)
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: len(started(command)) == 3)
        ask(said["url"], 10)
        eventually(lambda: counted(command) == 40)
        eventually(lambda: scrape(command).value("duograph_processes") == 2)


def test_a_port_that_is_taken_is_named(command: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refusal = command.refusal("serve", "--port", "0", DUOGRAPH_METRICS_PORT=str(port))
    assert f"Port {port} of 127.0.0.1 cannot serve metrics" in refusal
    assert "DUOGRAPH_METRICS_PORT" in refusal


def test_the_port_of_the_api_cannot_serve_metrics_too(command: Command) -> None:
    port = str(own_port())
    refusal = command.refusal("serve", "--port", port, DUOGRAPH_METRICS_PORT=port)
    assert f"Port {port} serves the API: choose another DUOGRAPH_METRICS_PORT." in refusal
