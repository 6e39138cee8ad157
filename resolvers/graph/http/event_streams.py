"""Documents answered as Server-Sent Events: the protocol of graphql-sse in its distinct connections mode.

https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md
"""

from collections.abc import AsyncIterator

import orjson
import structlog

from resolvers.graph.execution.planned.streams import Stream
from resolvers.graph.http.errors import body_of, written
from resolvers.graph.survey.problem_places import separated
from resolvers.operations.context import Context
from resolvers.operations.limits.answer_size import dumped
from resolvers.operations.outages import unforeseen
from schema.errors import Failure, Internal

log = structlog.get_logger()

# Of nginx, which otherwise waits until it has more.
EVENT_HEADERS = {"X-Accel-Buffering": "no"}
RETRY = b"retry: 1000\n\n"
COMPLETE = b"event: complete\ndata:\n\n"


def next_event(body: bytes) -> bytes:
    """The event of one result: JSON has no line breaks."""
    return b"event: next\ndata: " + body + b"\n\n"


async def results_of(ctx: Context, stream: Stream) -> AsyncIterator[bytes | None]:
    """The results of a subscription as JSON, and None when there was none for a while. They are charged.

    Raises `Failure`, also for what nobody foresaw, which is logged.
    """
    sent = 0
    try:
        async for event in stream.events():
            if event is None:
                yield None
                continue
            data, errors = event
            result = dumped(ctx.caller, body_of(ctx, data, separated(errors)))
            sent += len(result)
            yield result
            await stream.live.charge(sent)
    except Failure:
        raise
    except Exception as error:
        failure = unforeseen(error, ctx.caller.request_id)
        if isinstance(failure, Internal):
            log.exception("unforeseen", path="/graphql", method="SUBSCRIBE")
        raise failure from error


class SubscriptionParts:
    """The parts of a subscription's events. What ends with the process or its client is not complete."""

    def __init__(self, ctx: Context, stream: Stream) -> None:
        self._ctx, self._stream = ctx, stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # Before the first event, a client knows that it is subscribed.
        yield RETRY
        try:
            async for result in results_of(self._ctx, self._stream):
                yield b":\n\n" if result is None else next_event(result)
        except Failure as failure:
            yield next_event(orjson.dumps({"errors": [written(failure)]})) + COMPLETE
            return
        yield RETRY

    def end(self) -> None:
        """Have the stream end."""
        self._stream.live.end()

    def close(self) -> None:
        """The stream has ended, or will never begin."""
        self._stream.live.close()
