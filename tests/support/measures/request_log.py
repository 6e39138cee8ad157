"""The lines of requests that gateways of this process write."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

from gateway.logs.request_lines import as_json, request_lines


@contextmanager
def request_log() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """A function that returns the lines written since the block began."""
    request_lines.flush()
    stream, write = request_lines.stream, request_lines.write
    request_lines.stream, request_lines.write = StringIO(), as_json

    def lines() -> list[dict[str, Any]]:
        request_lines.flush()
        return [json.loads(line) for line in request_lines.stream.getvalue().splitlines()]  # type: ignore[attr-defined]

    try:
        yield lines
    finally:
        request_lines.flush()
        request_lines.stream, request_lines.write = stream, write
