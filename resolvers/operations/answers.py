"""Answers over HTTP, as the endpoints of both surfaces return them; the gateway writes them."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

from starlette.requests import Request
from starlette.responses import Response

from resolvers.operations.context import Context

JSON = "application/json"


class Parts(Protocol):
    """The body of an answer that goes on until its client leaves, or something ends it."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """The parts, each of which is sent at once."""

    def end(self) -> None:
        """Have the parts end soon."""

    def close(self) -> None:
        """Nothing more is taken of the parts."""


@dataclass(slots=True)
class Answer:
    """A status, a whole body and its own headers; without a `media_type` it has no body.

    It is compressed only if it says so: one with a secret that is shown once must not be. With `parts`, these
    are the body.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str | None = JSON
    is_compressible: bool = False
    parts: Parts | None = None

    @classmethod
    def of(cls, response: Response) -> Self:
        """The same answer as a response that has its whole body."""
        headers = dict(response.headers)
        del headers["content-length"]
        media_type = headers.pop("content-type", None)
        return cls(response.status_code, bytes(response.body), headers, media_type)


class Endpoint(Protocol):
    """Answers the requests of one path.

    One that `assumes` credentials to be unchanged changes and logs nothing before it calls `confirm`.
    """

    assumes: bool

    async def answer(self, ctx: Context, request: Request) -> Answer:
        """Raises `Failure`, which the gateway renders as the path's clients expect it."""
