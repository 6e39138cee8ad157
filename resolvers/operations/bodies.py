"""Request bodies: read up to a limit, and parsed as strict JSON."""

from math import inf
from typing import Any

from pydantic_core import from_json
from starlette.requests import Request

from resolvers.operations.declaration import LARGEST_BODY
from schema.errors import Invalid, TooLarge, problem

# Python reads no integer of more than 4,300 digits; no body needs more than 20.
LONGEST_LENGTH = 20


async def read_body(request: Request, largest: int = LARGEST_BODY) -> bytes:
    """The whole body. Raises `TooLarge` for more than `largest` bytes, without reading any if it can."""
    if announced_length(request) > largest:
        raise _too_large(largest)
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > largest:
            raise _too_large(largest)
        chunks.append(chunk)
    return b"".join(chunks)


def announced_length(request: Request) -> float:
    """The body's bytes by `Content-Length`, 0 without one."""
    announced = request.headers.get("content-length", "")
    if not announced.isdecimal():
        return 0
    return int(announced) if len(announced) <= LONGEST_LENGTH else inf


def _too_large(largest: int) -> TooLarge:
    return TooLarge(f"The body is larger than {largest} bytes, which is the limit here.")


def parse_json(body: bytes) -> Any:
    """JSON as RFC 8259 has it: no NaN, no lone surrogates, UTF-8. Raises `Invalid`."""
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise Invalid([problem(("data",), f"The body should be JSON: {error}", "json_invalid")]) from None
