"""Documents over one WebSocket: the protocol graphql-transport-ws, as the server speaks it.

https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import orjson
import structlog

from resolvers.graph.execution.planned.streams import Stream
from resolvers.graph.http.endpoint import EVERYTHING, GRAPHQL_PATH, GraphQLEndpoint
from resolvers.graph.http.errors import body_of, failure_of, written
from resolvers.graph.http.event_streams import results_of
from resolvers.graph.http.requests import read_message
from resolvers.operations.bodies import parse_json
from resolvers.operations.context import Context
from resolvers.operations.limits.admission import admit
from resolvers.operations.limits.answer_size import dumped
from resolvers.operations.outages import unforeseen
from resolvers.operations.security_events import note_refusals
from schema.errors import Failure, InsufficientScope, Internal, InvalidToken, RateLimited

log = structlog.get_logger()

SUBPROTOCOL = "graphql-transport-ws"
SECONDS_TO_INITIALISE = 10
# Documents that run at a time over one connection, subscriptions included.
MOST_AT_A_TIME = 20
LONGEST_ID = 255


class Closed(Exception):
    """The connection is to be closed with this code and reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code, self.reason = code, reason


class Client(Protocol):
    """The client of one connection, as the gateway knows it."""

    request_id: str

    async def greet(self, authorization: str | None) -> None:
        """Take the credential of `connection_init`. Raises `InvalidToken` and what else refuses."""

    async def context(self) -> Context:
        """The context of one document, with the credential looked up again. Raises the same."""

    async def receive(self) -> str | None:
        """The next message; None once the client has gone. Raises `Closed` for one that is no text."""

    async def send(self, message: bytes) -> None:
        """Send a message, waiting for room."""

    async def close(self, code: int, reason: str) -> None:
        """Close the connection."""


@dataclass(eq=False)
class _Running:
    """A document that runs: its task, and its stream if it is a subscription that has begun."""

    task: "asyncio.Task[None] | None" = None
    stream: Stream | None = None


class Connection:
    """One connection from its acceptance to its end."""

    def __init__(self, endpoint: GraphQLEndpoint, client: Client) -> None:
        self._endpoint, self._client = endpoint, client
        self._is_initialised = self._is_acknowledged = False
        self._running: dict[str, _Running] = {}
        # Why a document that runs has to end the connection.
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Take messages until the client goes, or has to go."""
        taking = asyncio.create_task(self._take_all(), name="take messages")
        try:
            await asyncio.wait([taking, self._end], return_when=asyncio.FIRST_COMPLETED)
            (self._end if self._end.done() else taking).result()
        except Closed as closed:
            await self._client.close(closed.code, closed.reason)
        finally:
            tasks = [taking, *(each.task for each in self._running.values() if each.task is not None)]
            for each in self._running.values():
                if each.stream is not None:
                    each.stream.live.end()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _take_all(self) -> None:
        try:
            async with asyncio.timeout(SECONDS_TO_INITIALISE):
                while not self._is_acknowledged:
                    if not await self._take_next():
                        return
        except TimeoutError:
            raise Closed(4408, "Connection initialisation timeout") from None
        while await self._take_next():
            pass

    async def _take_next(self) -> bool:
        """Whether there was a message. Raises `Closed`."""
        text = await self._client.receive()
        if text is None:
            return False
        try:
            message = parse_json(text.encode("utf-8", "surrogatepass"))
        except Failure:
            raise Closed(4400, "Invalid message") from None
        payload = message.get("payload") if isinstance(message, dict) else None
        match message.get("type") if isinstance(message, dict) else None:
            case "connection_init" if isinstance(payload, dict | None):
                await self._initialise(payload or {})
            case "ping":
                await self._send({"type": "pong"})
            case "pong":
                pass
            case "subscribe" if _is_id(message.get("id")) and isinstance(payload, dict):
                self._subscribe(message["id"], payload, len(text))
            case "complete" if _is_id(message.get("id")):
                self._complete(message["id"])
            case _:
                raise Closed(4400, "Invalid message")
        return True

    async def _initialise(self, payload: Mapping[str, Any]) -> None:
        if self._is_initialised:
            raise Closed(4429, "Too many initialisation requests")
        self._is_initialised = True
        sent = {name.lower(): value for name, value in payload.items()}.get("authorization")
        if not isinstance(sent, str | None):
            raise Closed(4400, "Invalid message")
        try:
            await self._client.greet(sent)
        except Failure as failure:
            raise _closed_for(failure) from None
        await self._send({"type": "connection_ack"})
        self._is_acknowledged = True

    def _subscribe(self, id: str, payload: Mapping[str, Any], size: int) -> None:
        if not self._is_acknowledged:
            raise Closed(4401, "Unauthorized")
        if id in self._running:
            raise Closed(4409, f"Subscriber for {id} already exists"[:120])
        running = self._running[id] = _Running()
        running.task = asyncio.create_task(self._run(id, running, payload, size), name="document")

    def _complete(self, id: str) -> None:
        running = self._running.pop(id, None)
        if running is not None and running.stream is not None:
            running.stream.live.end()

    async def _run(self, id: str, running: _Running, payload: Mapping[str, Any], size: int) -> None:
        try:
            ctx = await self._client.context()
            await self._answer(ctx, id, running, payload, size)
            for action in ctx.caller.after_response:
                await action()
        except Failure as failure:
            if isinstance(failure, InvalidToken):
                self._leave(_closed_for(failure))
            else:
                await self._refuse(id, running, [written(failure)])
        except Exception as error:
            unknown = unforeseen(error, self._client.request_id)
            if isinstance(unknown, Internal):
                log.exception("unforeseen", path=GRAPHQL_PATH, method="SUBSCRIBE")
            await self._refuse(id, running, [written(unknown)])
        finally:
            if self._running.get(id) is running:
                del self._running[id]

    async def _answer(
        self, ctx: Context, id: str, running: _Running, payload: Mapping[str, Any], size: int
    ) -> None:
        await admit(ctx.caller, [])
        if len(self._running) > MOST_AT_A_TIME:
            raise RateLimited(
                f"A connection runs {MOST_AT_A_TIME} documents at a time: wait for one of them."
            )
        sent = await read_message(payload, size, ctx)
        data, errors = await self._endpoint.run(ctx, sent, EVERYTHING)
        if isinstance(data, Stream):
            await self._follow(ctx, id, running, data)
            return
        if errors:
            note_refusals(ctx.caller, [failure_of(ctx, error) for error in errors])
        if data is None and errors:
            await self._refuse(id, running, body_of(ctx, None, errors)["errors"])
            return
        result = dumped(ctx.caller, body_of(ctx, data, errors))
        await ctx.caller.budget.charge_answer(len(result))
        await ctx.caller.budget.charge_database()
        await self._next(id, running, result)
        await self._finish(id, running)

    async def _follow(self, ctx: Context, id: str, running: _Running, stream: Stream) -> None:
        running.stream = stream
        try:
            if self._running.get(id) is not running:
                return  # The client has completed it before it began.
            async for result in results_of(ctx, stream):
                if result is not None:
                    await self._next(id, running, result)
        except InsufficientScope as failure:
            self._leave(_closed_for(failure))
        finally:
            stream.live.close()

    async def _refuse(self, id: str, running: _Running, errors: list[Any]) -> None:
        if self._running.get(id) is running:
            del self._running[id]
            await self._send({"type": "error", "id": id, "payload": errors})

    async def _next(self, id: str, running: _Running, result: bytes) -> None:
        if self._running.get(id) is running:
            await self._send({"type": "next", "id": id, "payload": orjson.Fragment(result)})

    async def _finish(self, id: str, running: _Running) -> None:
        if self._running.get(id) is running:
            del self._running[id]
            await self._send({"type": "complete", "id": id})

    async def _send(self, message: dict[str, Any]) -> None:
        await self._client.send(orjson.dumps(message))

    def _leave(self, closed: Closed) -> None:
        if not self._end.done():
            self._end.set_exception(closed)


def _closed_for(failure: Failure) -> Closed:
    if isinstance(failure, InvalidToken):
        return Closed(4401, "Unauthorized")
    if isinstance(failure, InsufficientScope):
        return Closed(4403, "Forbidden")
    return Closed(1013, "Try again later")


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_ID
