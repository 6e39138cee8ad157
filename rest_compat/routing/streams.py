"""Writes the feed of changes as Server-Sent Events, each with its position as `id`."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, ClassVar

import orjson
import structlog
from pydantic import TypeAdapter
from starlette.requests import Request

from resolvers.changes.following import Following, follow
from resolvers.operations.answers import Answer
from resolvers.operations.context import Context
from resolvers.operations.http.sent_headers import sent_header
from resolvers.operations.outages import unforeseen
from rest_compat.routing.endpoint import OperationEndpoint
from rest_compat.routing.reading import Arguments, Read
from schema.changes.changes import POSITION, Change
from schema.errors import Failure, Internal, Invalid, problem

log = structlog.get_logger()

LAST_EVENT_ID = "Last-Event-ID"
EVENT_STREAM = "text/event-stream"
RETRY_MILLISECONDS = 1000
RETRY = b"retry: %d\n\n" % RETRY_MILLISECONDS

_changes: TypeAdapter[Change] = TypeAdapter(Change)


class ResumedArguments(Arguments):
    """Those of a stream, where `Last-Event-ID` takes the place of `after`: browsers repeat the address."""

    async def read(self, request: Request) -> Read:
        arguments, used = await super().read(request)
        last = sent_header(request, LAST_EVENT_ID.lower().encode())
        if last is None:
            return arguments, used
        if not re.fullmatch(POSITION, last):
            message = f"A `{LAST_EVENT_ID}` is the `id` of an event of this stream"
            raise Invalid([problem(("header", LAST_EVENT_ID), message, "position")])
        return {**arguments, "filters": arguments["filters"].model_copy(update={"after": last})}, used


class StreamEndpoint(OperationEndpoint):
    """Answers with the pages of the feed as they come, and a comment each 15 seconds without any."""

    media_type: ClassVar[str] = EVENT_STREAM
    # Of nginx, which otherwise waits until it has more.
    headers: Mapping[str, str] = {"X-Accel-Buffering": "no"}
    arguments_class = ResumedArguments
    may_assume = False

    def __init__(self, *declared: Any) -> None:
        super().__init__(*declared)
        self._run = follow

    def _answer(
        self, request: Request, ctx: Context, result: Following[Change], arguments: Mapping[str, Any]
    ) -> Answer:
        return Answer(200, b"", self.headers, EVENT_STREAM, parts=EventParts(result))


class EventParts:
    """The parts of one stream."""

    def __init__(self, following: Following[Change]) -> None:
        self._following = following

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # Before the first event, a client that is cut knows where to go on.
        yield RETRY[:-1] + self._place()
        sent = 0
        try:
            async for page in self._following.pages():
                if page is None:
                    # Also the next connection need not look again through what has nothing for it.
                    yield b":\n" + self._place()
                    continue
                for change in page.data:
                    event = event_of(change)
                    sent += len(event)
                    yield event
                await self._following.charge(sent)
        except Failure as failure:
            yield _failed(failure)
        except Exception as error:
            unknown = unforeseen(error, self._following.request_id)
            if isinstance(unknown, Internal):
                log.exception("unforeseen", path="/api/changes/stream", method="GET")
            yield _failed(unknown)
        yield RETRY

    def _place(self) -> bytes:
        """Tells where to go on, which is no event."""
        return f"id: {self._following.position}\n\n".encode()

    def end(self) -> None:
        """Have the stream end, with `retry` as its last word."""
        self._following.end()

    def close(self) -> None:
        """The stream has ended, or will never begin."""
        self._following.close()


def event_of(change: Change) -> bytes:
    """The event that tells a change: JSON has no line breaks."""
    data = _changes.dump_json(change)
    return f"id: {change.position}\nevent: {change.kind.value}\ndata: ".encode() + data + b"\n\n"


def _failed(failure: Failure) -> bytes:
    return b"event: error\ndata: " + orjson.dumps(failure.body) + b"\n\n"
