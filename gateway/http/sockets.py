"""WebSockets: GraphQL's at `/graphql`, and no others; their clients, credentials and ends."""

import logging
import os
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from time import perf_counter, time
from typing import Any

import structlog
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from gateway.http.callers import Callers
from gateway.http.paths.route_templates import UNMATCHED
from gateway.logs.request_lines import RequestLine, RequestLines
from gateway.rate_limits.budget import Budgets
from gateway.web.kit.origins import origin_of
from resolvers.graph.http.endpoint import GRAPHQL_PATH, GraphQLEndpoint
from resolvers.graph.http.transport_ws import SUBPROTOCOL, Closed, Connection
from resolvers.operations.context import Context, Services
from resolvers.operations.declaration import LARGEST_BODY
from resolvers.operations.http.sent_headers import SentHeaders, sent_headers
from schema.errors import InvalidToken, RateLimited
from storage.changes.followers import MOST_OF_ALL

log = structlog.get_logger()

_PATHS = frozenset({GRAPHQL_PATH, f"{GRAPHQL_PATH}/"})
_AUTHORIZATION = b"authorization"
_SCHEMES = {"ws": "http", "wss": "https"}
SWITCHED, FORBIDDEN = 101, 403
# Of one subject, whose subscriptions are counted too.
MOST_CONNECTIONS_OF_ONE = 50


def socket_options(stall_seconds: float) -> dict[str, Any]:
    """The options of uvicorn for WebSockets. Messages are as large as a body of GraphQL may be.

    They are not compressed: each connection would keep some 30 KiB for that.
    """
    return {
        "ws": partial(PatientSocket, patience=stall_seconds),
        "ws_max_size": LARGEST_BODY,
        "ws_per_message_deflate": False,
    }


class PatientSocket(WebSocketsSansIOProtocol):
    """Uvicorn's protocol, which cuts a client that has left no room for `patience` seconds."""

    def __init__(self, *args: Any, patience: float, **options: Any) -> None:
        super().__init__(*args, **options)
        # Uvicorn's own tells each path with its query.
        self.logger = logging.getLogger("gateway.websockets")
        self.logger.setLevel(logging.ERROR)
        self._patience = patience
        self._stalled: Any = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self._patience, self._cut)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forgive()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forgive()
        super().connection_lost(exc)

    def _forgive(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _cut(self) -> None:
        log.info("answer not read", bytes=self.transport.get_write_buffer_size())
        self.transport.abort()


class Sockets:
    """An ASGI application for WebSockets. `origins` are those of pages that may use the API, or `*`.

    Of a page on another origin no cookie counts, as `Callers` says.
    """

    def __init__(
        self,
        endpoint: GraphQLEndpoint,
        *,
        services: Services,
        callers: Callers,
        budgets: Budgets,
        origins: Collection[str],
        own_origin: str,
        lines: RequestLines | None,
    ) -> None:
        self._endpoint = endpoint
        self._services = services
        self._callers = callers
        self._budgets = budgets
        self._origins = origins
        self._own_origin = own_origin
        self._lines = lines
        self._open = 0
        self._of_subject: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, sent = perf_counter(), dict(sent_headers(scope))
        client = _Client(self, scope, sent, receive, send)
        is_taken = scope["path"] in _PATHS and self._takes(scope, sent)
        self._open += 1
        # What the client leaves behind when it goes is of no interest.
        with suppress(ClientDisconnected):
            try:
                await receive()
                if is_taken:
                    await self._serve(scope, client, send)
                else:
                    await send({"type": "websocket.close"})
            finally:
                self._open -= 1
                client.leave()
        if self._lines is not None:
            template = scope["path"] if scope["path"] in _PATHS else UNMATCHED
            status, milliseconds = SWITCHED if is_taken else FORBIDDEN, (perf_counter() - started) * 1000
            line = RequestLine(time(), "GET", template, status, milliseconds, client.request_id)
            self._lines.add(line)

    def _takes(self, scope: Scope, sent: SentHeaders) -> bool:
        """Whether the page that connects may, if it is one."""
        if b"origin" not in sent or "*" in self._origins:
            return True
        origin, host = sent[b"origin"].decode("latin-1"), sent.get(b"host", b"").decode("latin-1")
        same = f"{_SCHEMES[scope['scheme']]}://{host}"
        return origin in self._origins or origin.lower() in {self._own_origin, origin_of(same)}

    async def _serve(self, scope: Scope, client: "_Client", send: Send) -> None:
        is_known = SUBPROTOCOL in scope["subprotocols"]
        await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL if is_known else None})
        if self._open > MOST_OF_ALL:
            await client.close(1013, "Try again later")
        elif is_known:
            await Connection(self._endpoint, client).run()
        else:
            await client.close(4406, "Subprotocol not acceptable")

    def enter(self, subject: str) -> str:
        """Take a place of the subject, which is returned. Raises `RateLimited`."""
        if self._of_subject[subject] >= MOST_CONNECTIONS_OF_ONE:
            raise RateLimited(f"A caller may have {MOST_CONNECTIONS_OF_ONE} connections open at a time.")
        self._of_subject[subject] += 1
        return subject

    def leave(self, subject: str) -> None:
        """Give a place of the subject back."""
        self._of_subject[subject] -= 1
        self._of_subject += Counter()  # Without those that have none.

    async def context(self, scope: Scope, sent: SentHeaders, request_id: str) -> Context:
        """The context of one document. Raises what `Callers` raises."""
        budget = self._budgets.make()
        caller = await self._callers.of(scope, sent, budget, request_id, authenticates=True)
        return Context(self._services, caller)


class _Client:
    """The client of one connection: its requests have the headers with which it connected."""

    def __init__(
        self, sockets: Sockets, scope: Scope, sent: dict[bytes, bytes], receive: Receive, send: Send
    ) -> None:
        # As of a request by GET, which is how it began.
        self._scope = {**scope, "type": "http", "method": "GET", "scheme": _SCHEMES[scope["scheme"]]}
        self._sockets, self._sent, self.request_id = sockets, sent, os.urandom(16).hex()
        self._receive, self._send = receive, send
        self._is_closed = False
        self._subject: str | None = None

    async def greet(self, authorization: str | None) -> None:
        if authorization is not None:
            self._sent[_AUTHORIZATION] = authorization.encode("latin-1", "replace")
        ctx = await self.context()
        if ctx.caller.principal is None:
            raise InvalidToken
        self._subject = self._sockets.enter(ctx.principal.subject)

    def leave(self) -> None:
        """Give the connection's place to another one."""
        if self._subject is not None:
            self._sockets.leave(self._subject)

    async def context(self) -> Context:
        return await self._sockets.context(self._scope, self._sent, self.request_id)

    async def receive(self) -> str | None:
        message: Message = await self._receive()
        if message["type"] == "websocket.disconnect":
            return None
        text: str | None = message.get("text")
        if text is None:
            raise Closed(4400, "Invalid message")
        return text

    async def send(self, message: bytes) -> None:
        # Documents that still run may have something to say to a client that has gone.
        if not self._is_closed:
            with suppress(ClientDisconnected):
                await self._send({"type": "websocket.send", "text": message.decode()})

    async def close(self, code: int, reason: str) -> None:
        self._is_closed = True
        with suppress(ClientDisconnected):
            await self._send({"type": "websocket.close", "code": code, "reason": reason})
