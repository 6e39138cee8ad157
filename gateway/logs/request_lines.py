"""The access log: one line for each request, without its query, body or credentials.

Lines are collected and written together, so that no request waits for its line.
"""

import asyncio
import atexit
import json
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, TextIO
from uuid import UUID

SECONDS_BETWEEN_WRITES = 0.05
MOST_COLLECTED = 500
# A pipe takes this many bytes as a whole (PIPE_BUF), so lines of several processes do not mix.
LARGEST_WRITE = 4096

# What not every line has, in the order of JSON; consoles sort by name.
_OPTIONAL = ("trace_id", "credential", "kind", "user", "workspace", "address")
_BEFORE_METHOD, _AFTER_STATUS = ("address", "credential", "kind"), ("trace_id", "user", "workspace")

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestLine(NamedTuple):
    """`path` is the route's template, because the path itself may contain a secret, and `status` is None if
    the client disconnected first. `milliseconds` run until the last byte was sent, `ended` is in seconds
    since 1970. The request id is the one answered with; its letters need no quotes. The trace id is None if
    requests are not traced. The ids of the credential, its user and its workspace are ours, not what a caller
    claims, and None without one; so is `address` unless a setting asks for it.
    """

    ended: float
    method: str
    path: str
    status: int | None
    milliseconds: float
    request_id: str
    trace_id: str | None = None
    credential: UUID | None = None
    kind: str | None = None
    user: UUID | None = None
    workspace: UUID | None = None
    address: str | None = None

    @property
    def event(self) -> dict[str, Any]:
        """The line as an event of structlog."""
        optional = {name: str(value) for name in _OPTIONAL if (value := getattr(self, name)) is not None}
        return {
            "method": self.method,
            "path": self.path,
            "status": self.status,
            "milliseconds": round(self.milliseconds, 1),
            "request_id": self.request_id,
            **optional,
            "event": "request",
            "level": "info",
            "timestamp": _moment(self.ended),
        }


class RequestLines:
    """Collects lines for 50 ms, or up to 500 of them, and writes them to `stream`.

    A regular end of the process and every other log line write those collected before. Only `add` needs a
    running loop.
    """

    def __init__(self) -> None:
        self.stream: TextIO = sys.stderr
        self.write: Callable[[RequestLine], str] = as_console
        self._collected: deque[RequestLine] = deque()
        self._writing = threading.Lock()
        self._is_due = False

    def add(self, line: RequestLine) -> None:
        self._collected.append(line)
        if len(self._collected) >= MOST_COLLECTED:
            self.flush()
        elif not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(SECONDS_BETWEEN_WRITES, self.flush)

    def flush(self) -> None:
        """Write the collected lines, from any thread."""
        self._is_due = False
        if not self._collected:
            return
        with self._writing:
            part: list[str] = []
            size = 0
            while self._collected:
                text = self.write(self._collected.popleft())
                if part and size + len(text) > LARGEST_WRITE:
                    self._put("".join(part))
                    part.clear()
                    size = 0
                part.append(text)
                size += len(text)
            self._put("".join(part))

    def _put(self, text: str) -> None:
        # Lines for which the disk has no space are lost, and fail no request.
        with suppress(OSError):
            self.stream.write(text)
            self.stream.flush()


def as_json(line: RequestLine) -> str:
    """The line as structlog's `JSONRenderer` writes it."""
    status = "null" if line.status is None else line.status
    optional = "".join(
        [f'"{name}": "{value}", ' for name in _OPTIONAL if (value := getattr(line, name)) is not None]
    )
    return (
        f'{{"method": "{line.method}", "path": {_quoted(line.path)}, "status": {status}, '
        f'"milliseconds": {line.milliseconds:.1f}, "request_id": "{line.request_id}", {optional}'
        f'"event": "request", "level": "info", "timestamp": "{_moment(line.ended)}"}}\n'
    )


def as_console(line: RequestLine) -> str:
    """The line as structlog's `ConsoleRenderer` writes it without colours."""
    before, after = (
        "".join([f"{name}={value} " for name in names if (value := getattr(line, name)) is not None])
        for names in (_BEFORE_METHOD, _AFTER_STATUS)
    )
    return (
        f"{_moment(line.ended)} [info     ] request                        {before}method={line.method} "
        f"milliseconds={line.milliseconds:.1f} path={line.path} request_id={line.request_id} "
        f"status={line.status} {after}".rstrip(" ")
        + "\n"
    )


def logged_method(method: str) -> str:
    """The method; `other` for an unknown one, which the caller made up."""
    return method if method in METHODS else "other"


@lru_cache(maxsize=1024)
def _quoted(template: str) -> str:
    return json.dumps(template)


def _moment(ended: float) -> str:
    seconds = int(ended)
    return f"{_second(seconds)}.{int((ended - seconds) * 1_000_000):06d}Z"


@lru_cache(maxsize=2)
def _second(ended: int) -> str:
    return datetime.fromtimestamp(ended, UTC).isoformat()[:-6]


request_lines = RequestLines()
atexit.register(request_lines.flush)
