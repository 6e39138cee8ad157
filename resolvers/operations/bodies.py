"""Request bodies: read up to a limit, and parsed as strict JSON."""

from math import inf
from typing import Any

from pydantic_core import from_json
from starlette.requests import Request

from resolvers.operations.declaration import LARGEST_BODY
from schema.errors import Invalid, TooLarge, problem

# Python refuses to read integers of more than 4,300 digits; no body needs more than 20.
LONGEST_LENGTH = 20


async def read_body(request: Request, largest: int = LARGEST_BODY) -> bytes:
    """The whole body. Raises `TooLarge` for more than `largest` bytes, if announced without reading any."""
    if announced_length(request) > largest:
        raise body_too_large(largest)
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > largest:
            raise body_too_large(largest)
        chunks.append(chunk)
    return b"".join(chunks)


def announced_length(request: Request) -> float:
    """The body's size in bytes according to `Content-Length`; 0 without one."""
    announced = request.headers.get("content-length", "")
    if not announced.isdecimal():
        return 0
    return int(announced) if len(announced) <= LONGEST_LENGTH else inf


def body_too_large(largest: int) -> TooLarge:
    """The refusal of a body with more than `largest` bytes."""
    return TooLarge(f"The body is larger than {largest} bytes, the limit here.")


def parse_json(body: bytes) -> Any:
    """JSON as RFC 8259 defines it: UTF-8, no NaN, no lone surrogates. Raises `Invalid`."""
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise Invalid([problem(("data",), f"The body should be JSON: {error}", "json_invalid")]) from None
