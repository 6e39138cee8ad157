"""Lines of requests: written as structlog writes them, together, and before all other lines."""

import asyncio
import json
import logging
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
import structlog

from gateway.http import sockets
from gateway.logs.logs import configure_logs
from gateway.logs.request_lines import (
    LARGEST_WRITE,
    MOST_COLLECTED,
    RequestLine,
    RequestLines,
    as_console,
    as_json,
    logged_method,
    request_lines,
)
from resolvers.graph.http.transport_ws import SUBPROTOCOL
from rest_compat.api import ROUTES
from tests.support.measures.request_log import request_log
from tests.support.servers.gateways import run_gateway

ID = UUID("0b8e7a52-7a0e-4c43-9f0e-1f1f6c1d2e3f")
LINE = RequestLine(1_800_000_000.25, "GET", "/api/shares/{id}", 200, 1.5, "r-1")
LINES = [
    LINE,
    LINE._replace(status=None, milliseconds=12345.0, method="other", path="unmatched"),
    LINE._replace(milliseconds=0.04),
    LINE._replace(milliseconds=99.96),
    LINE._replace(ended=1_800_000_000.0, path="/media/{path:path}", request_id="a._-Z"),
    LINE._replace(trace_id="t", credential=ID, kind="personal_token", user=ID, address="2001:db8::/64"),
    LINE._replace(credential=ID, kind="workspace_token", workspace=ID, address="unknown"),
    *[LINE._replace(path=route.path) for route in ROUTES],
]


class Stream(StringIO):
    """Counts what is written at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.is_written = asyncio.Event()

    def write(self, text: str) -> int:
        self.parts.append(text)
        self.is_written.set()
        return super().write(text)


def collected(count: int = 0) -> tuple[RequestLines, Stream]:
    lines, stream = RequestLines(), Stream()
    lines.stream, lines.write = stream, as_json
    for number in range(count):
        lines.add(LINE._replace(request_id=f"r-{number}"))
    return lines, stream


def ids_of(text: str) -> list[str]:
    return [json.loads(line)["request_id"] for line in text.splitlines()]


def test_a_line_is_what_structlog_writes() -> None:
    in_json, on_console = structlog.processors.JSONRenderer(), structlog.dev.ConsoleRenderer(colors=False)
    for line in LINES:
        # The renderers change the event that they are given.
        assert as_json(line) == f"{in_json(None, 'info', line.event)!s}\n"
        assert as_console(line) == f"{on_console(None, 'info', line.event)}\n"


def test_a_method_that_a_caller_made_up_is_not_written() -> None:
    assert [logged_method(method) for method in ("GET", "get", "SECRET")] == ["GET", "other", "other"]


async def test_lines_are_written_within_a_moment_and_not_one_by_one() -> None:
    _, stream = collected(3)
    assert stream.parts == []
    await stream.is_written.wait()
    assert (len(stream.parts), ids_of(stream.getvalue())) == (1, ["r-0", "r-1", "r-2"])


async def test_many_lines_are_not_kept_and_are_written_in_parts_that_a_pipe_takes_whole() -> None:
    _, stream = collected(MOST_COLLECTED)
    assert ids_of(stream.getvalue()) == [f"r-{number}" for number in range(MOST_COLLECTED)]
    assert all(len(part) <= LARGEST_WRITE and part.endswith("\n") for part in stream.parts)


async def test_another_line_comes_after_those_of_earlier_requests(
    own_logs: None,
    capfd: pytest.CaptureFixture[str],
) -> None:
    configure_logs("json", "info")
    request_lines.add(LINE)
    structlog.get_logger().error("our own")
    request_lines.add(LINE._replace(request_id="r-2"))
    logging.getLogger("some.library").warning("a library's")
    events = [json.loads(line)["event"] for line in capfd.readouterr().err.splitlines()]
    assert events == ["request", "our own", "request", "a library's"]


@pytest.mark.parametrize(
    ("settings", "count"), [({}, 1), ({"access_log": False}, 0), ({"log_level": "warning"}, 0)]
)
async def test_requests_are_logged_if_the_settings_say_so(
    tmp_path: Any, settings: dict[str, Any], count: int
) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    async for gateway in run_gateway(url, tmp_path, **{"access_log": True, **settings}):
        with request_log() as lines:
            await gateway.client.get("/health")
            assert len(lines()) == count
    configure_logs("console", "info")


async def answers_to_socket(app: Any, path: str) -> list[dict[str, Any]]:
    """What a client is sent that connects to a WebSocket and says nothing."""
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    protocols = {"subprotocols": [SUBPROTOCOL], "scheme": "ws"}
    scope = {"type": "websocket", "path": path, "headers": [], "client": ("192.0.2.1", 1), **protocols}
    await app(scope, receive, send)
    return messages


async def test_a_connection_that_is_not_taken_has_a_line_too(tmp_path: Any, monkeypatch: Any) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    async for gateway in run_gateway(url, tmp_path, access_log=True):
        with request_log() as lines:
            # One more than there may be.
            monkeypatch.setattr(sockets, "MOST_OF_ALL", 0)
            accepted, closed = await answers_to_socket(gateway.app, "/graphql")
            assert (accepted["type"], closed["type"], closed["code"]) == (
                "websocket.accept",
                "websocket.close",
                1013,
            )
            assert await answers_to_socket(gateway.app, "/secret") == [{"type": "websocket.close"}]
            told = [(line["method"], line["path"], line["status"]) for line in lines()]
            assert told == [("GET", "/graphql", 101), ("GET", "unmatched", 403)]
    configure_logs("console", "info")
