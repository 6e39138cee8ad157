"""One request's answer on its way out, which gets the headers of the request and of its place."""

from collections.abc import Mapping
from functools import lru_cache
from time import perf_counter

from starlette.types import Message, Scope, Send

from gateway.http.held_answers import HeldAnswer, held
from gateway.http.response_headers import RawHeaders, completed
from gateway.http.streamed_answers import send_parts
from gateway.http.whole_answers import send_by_messages, send_whole
from gateway.monitoring.watching import WatchedRequest
from gateway.rate_limits.budget import RequestBudget
from resolvers.operations.answers import Answer, Parts
from resolvers.operations.context import Caller
from resolvers.operations.http.compression import LEAST_BYTES, compressed, private_encoding_for
from resolvers.operations.http.sent_headers import SentHeaders
from resolvers.operations.limits.answer_size import FREE_BYTES

# Answers with these statuses have no body, and so no length.
_BODILESS = frozenset({204, 304})
# Headers that neither the request nor its place gives; what they say is made by us alone.
_ONLY_OWN = frozenset({"ETag"})
_NO_HEADERS: RawHeaders = []


class Exchange:
    """Sends one answer and notes its status, which is None until it begins.

    `watched` is the request if it is monitored. `caller` is None for a credential that is refused. `began_at`
    is when an answer began that goes on for as long as its client likes.
    """

    __slots__ = (
        *("_held", "_of_place", "_send", "_sent"),
        *("began_at", "budget", "caller", "request_id", "status", "watched"),
    )

    def __init__(
        self, send: Send, sent: SentHeaders, request_id: str, budget: RequestBudget, of_place: RawHeaders
    ) -> None:
        self.request_id = request_id
        self.budget = budget
        self.status: int | None = None
        self.began_at: float | None = None
        self.watched: WatchedRequest | None = None
        self.caller: Caller | None = None
        self._send = send
        self._sent = sent
        self._of_place = of_place
        self._held: HeldAnswer | None = None

    async def write(self, answer: Answer, scope: Scope) -> None:
        """Send a whole answer, whose bytes are charged, or the parts of one, which charge for themselves."""
        if answer.parts is not None:
            await self._write_parts(answer, answer.parts, scope)
            return
        if self.budget.owes:
            await self.budget.charge_database()
        if len(answer.body) > FREE_BYTES:
            await self.budget.charge_answer(len(answer.body))
        content: RawHeaders = []
        if answer.is_compressible and len(answer.body) >= LEAST_BYTES and b"accept-encoding" in self._sent:
            await self._compress(answer, content)
        if answer.status not in _BODILESS:
            content.append((b"content-length", b"%d" % len(answer.body)))
            if answer.media_type is not None:
                content.append((b"content-type", answer.media_type.encode("latin-1")))
        own = _raw(answer.headers) if answer.headers else _NO_HEADERS
        self.status = answer.status
        if answer.headers.keys() <= _ONLY_OWN:
            headers = own + content + self._of_request() + self._of_place
            await send_whole(scope, self._send, answer.status, headers, answer.body)
        else:
            headers = completed(own + content, self._of_request(), self._of_place)
            await send_by_messages(self._send, answer.status, headers, answer.body)

    async def _write_parts(self, answer: Answer, parts: Parts, scope: Scope) -> None:
        try:
            if self.budget.owes:
                await self.budget.charge_database()
            content = [(b"content-type", (answer.media_type or "").encode("latin-1"))]
            headers = completed(_raw(answer.headers) + content, self._of_request(), self._of_place)
            self.status, self.began_at = answer.status, perf_counter()
            await self._send({"type": "http.response.start", "status": answer.status, "headers": headers})
            await send_parts(scope, self._send, parts)
        finally:
            parts.close()

    async def _compress(self, answer: Answer, content: RawHeaders) -> None:
        encoding = private_encoding_for(self._sent)
        if encoding is not None:
            answer.body = await compressed(answer.body, encoding)
            content.append((b"content-encoding", encoding.encode()))

    async def send(self, message: Message) -> None:
        """An ASGI `send` for an application that writes its answer itself."""
        if self._held is not None:
            await self._held.add(message)
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self.budget.owes:
                await self.budget.charge_database()
            await self.budget.charge_answer(_length_of_page(message["headers"]))
            message["headers"] = completed(list(message["headers"]), self._of_request(), self._of_place)
            self._held = held(message, self._sent, self._send)
            if self._held is not None:
                return
        await self._send(message)

    def _of_request(self) -> RawHeaders:
        request_id, cost = (b"x-request-id", self.request_id.encode()), self.budget.cost
        if cost is None:
            return [request_id]
        return [request_id, *_raw(self.budget.headers()), (b"ratelimit-cost", b"%d" % cost)]


def _length_of_page(headers: RawHeaders) -> int:
    """The bytes of a page; 0 for files and what else is no answer of an operation."""
    sent = dict(headers)
    is_page = sent.get(b"content-type", b"").startswith(b"text/html")
    return int(sent.get(b"content-length", b"0")) if is_page else 0


def _raw(headers: Mapping[str, str]) -> RawHeaders:
    return [(_raw_name(name), value.encode("latin-1")) for name, value in headers.items()]


@lru_cache(maxsize=256)
def _raw_name(name: str) -> bytes:
    return name.lower().encode("latin-1")
