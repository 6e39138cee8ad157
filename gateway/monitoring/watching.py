"""Watches requests for all that monitors them: metrics, traces and the log lines of slow statements."""

from collections.abc import Awaitable, Sequence
from contextlib import suppress
from contextvars import Token
from typing import TYPE_CHECKING, Any

from gateway.logs.current_operation import current_operation
from gateway.monitoring.tallies import DOCUMENT, GRAPHQL, OTHER, PAGE, REST, Tallies, Tally, outcome_of
from resolvers.graph.http.endpoint import GraphQLEndpoint
from resolvers.operations.answers import Endpoint
from rest_compat.routing.endpoint import OperationEndpoint
from schema.errors import Failure

if TYPE_CHECKING:
    from gateway.monitoring.tracing import RequestSpan, Tracing


class Watch:
    """Of the whole process. Without `tracing` and `notes_operations`, requests are only counted."""

    def __init__(self, tracing: "Tracing | None", *, notes_operations: bool) -> None:
        """`notes_operations` says which operation runs, for whoever watches its statements."""
        self.tallies = Tallies()
        self._tracing = tracing
        self._looks_closely = notes_operations or tracing is not None

    def tally_of(self, endpoint: Endpoint) -> Tally:
        """The tally of the requests that the endpoint answers."""
        if isinstance(endpoint, OperationEndpoint):
            return self.tallies.of(REST, endpoint.operation.name)
        if isinstance(endpoint, GraphQLEndpoint):
            return self.tallies.of(GRAPHQL, DOCUMENT)
        return self.tallies.of(PAGE, OTHER)

    def begin(self, tally: Tally, method: str, traceparent: bytes | None) -> "WatchedRequest | None":
        """A request from now on; None if it is only counted. `traceparent` is its header of that name."""
        if not self._looks_closely and tally.labels[0] != GRAPHQL:
            return None
        span = None if self._tracing is None else self._tracing.begin(method, traceparent)
        return WatchedRequest(self.tallies, tally.labels, span, self._tracing)


class WatchedRequest:
    """One request, from its beginning until `end`."""

    __slots__ = ("_labels", "_span", "_tallies", "_token", "_tracing", "worst")

    def __init__(
        self,
        tallies: Tallies,
        labels: tuple[str, str],
        span: "RequestSpan | None",
        tracing: "Tracing | None",
    ) -> None:
        self._tallies, self._labels, self._span, self._tracing = tallies, labels, span, tracing
        # The highest status of an error in the answer.
        self.worst = 0
        self._token: Token[str | None] = current_operation.set(labels[1])

    @property
    def trace_id(self) -> str | None:
        return None if self._span is None else self._span.trace_id

    def operation(self, name: str, result: Awaitable[Any]) -> Awaitable[Any]:
        """The result, noted as that of this operation. One over REST is the request itself."""
        if self._labels[0] == REST and self._span is None:
            return result
        return self._watched(name, result)

    def refused(self, statuses: Sequence[int]) -> None:
        self.worst = max(self.worst, *statuses)

    def end(self, status: int | None, template: str) -> None:
        """The answer was sent with this status, or the client disconnected."""
        current_operation.reset(self._token)
        if self._span is not None:
            self._span.end(status, template, *self._labels)

    async def _watched(self, name: str, result: Awaitable[Any]) -> Any:
        token, status = current_operation.set(name), 200
        span = None if self._tracing is None else self._tracing.begin_operation(name)
        try:
            return await result
        except Failure as failure:
            status = int(failure.status)
            raise
        except Exception:
            status = 500
            raise
        finally:
            # A coroutine that was left behind is closed elsewhere.
            with suppress(ValueError):
                current_operation.reset(token)
            if span is not None:
                span.end(status)
            if self._labels[0] == GRAPHQL:
                self._tallies.fields[name, outcome_of(status)] += 1
