"""One request's answer on its way out, which gets the headers of the request and of its place."""

from collections.abc import Mapping

from starlette.types import Message, Send

from gateway.http.response_headers import RawHeaders, completed
from gateway.rate_limits.budget import RequestBudget
from resolvers.operations.answers import Answer

# Statuses whose answers have no body, and so no length.
_BODILESS = frozenset({204, 304})


class Exchange:
    """Sends one answer and notes its status, which is None until it begins."""

    __slots__ = ("_of_place", "_send", "budget", "request_id", "status")

    def __init__(self, send: Send, request_id: str, budget: RequestBudget, of_place: RawHeaders) -> None:
        self.request_id = request_id
        self.budget = budget
        self.status: int | None = None
        self._send = send
        self._of_place = of_place

    async def write(self, answer: Answer) -> None:
        """Send a whole answer."""
        own = _raw(answer.headers) if answer.headers else []
        if answer.status not in _BODILESS:
            own.append((b"content-length", b"%d" % len(answer.body)))
            if answer.media_type is not None:
                own.append((b"content-type", answer.media_type.encode("latin-1")))
        await self._begin({"type": "http.response.start", "status": answer.status}, own)
        await self._send({"type": "http.response.body", "body": answer.body})

    async def send(self, message: Message) -> None:
        """An ASGI `send` for an application that writes its answer itself."""
        if message["type"] == "http.response.start":
            await self._begin(message, list(message["headers"]))
        else:
            await self._send(message)

    async def _begin(self, message: Message, own: RawHeaders) -> None:
        self.status = message["status"]
        of_request = [(b"x-request-id", self.request_id.encode()), *_raw(self.budget.headers())]
        message["headers"] = completed(own, of_request, self._of_place)
        await self._send(message)


def _raw(headers: Mapping[str, str]) -> RawHeaders:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
