"""Watches requests for all that monitors them: metrics, traces and the log lines of slow statements."""

from collections.abc import Awaitable, Sequence
from contextlib import suppress
from contextvars import Token
from typing import TYPE_CHECKING, Any

from gateway.logs.current_operation import current_operation
from gateway.monitoring.declarations import FIELDS, REQUESTS, SECONDS
from oauth.assumed import CredentialChanged
from resolvers.graph.http.endpoint import GraphQLEndpoint
from resolvers.operations.answers import Endpoint
from rest_compat.routing.endpoint import OperationEndpoint
from schema.errors import Failure

if TYPE_CHECKING:
    from gateway.monitoring.meters import Meters
    from gateway.monitoring.tracing import RequestSpan, Tracing

# The surface and the operation that a request counts for.
Labels = tuple[str, str]

REST, GRAPHQL = "rest", "graphql"
DOCUMENT: Labels = (GRAPHQL, "document")
PAGE: Labels = ("page", "other")

_WORDS = {429: "rate_limited", 503: "unavailable"}
_CLASSES = ("ok", "ok", "ok", "ok", "refused", "failed")


def outcome_of(status: int | None) -> str:
    """The word for a status; None if the client disconnected first."""
    if status is None:
        return "disconnected"
    return _WORDS.get(status) or _CLASSES[min(status // 100, 5)]


def labels_of(endpoint: Endpoint) -> Labels:
    """Those of the requests that the endpoint answers."""
    if isinstance(endpoint, OperationEndpoint):
        return REST, endpoint.operation.name
    return DOCUMENT if isinstance(endpoint, GraphQLEndpoint) else PAGE


class Watch:
    """Of the whole process. Without `tracing` and `notes_operations`, requests are only counted.

    They are counted in `meters`, which are None if nothing reads them.
    """

    def __init__(self, tracing: "Tracing | None", *, notes_operations: bool) -> None:
        """`notes_operations` says which operation runs, for whoever watches its statements."""
        self.meters: Meters | None = None
        self.in_progress = 0
        self._tracing = tracing
        self._looks_closely = notes_operations or tracing is not None

    def begin(self, labels: Labels, method: str, traceparent: bytes | None) -> "WatchedRequest | None":
        """A request from now on; None if it is only counted. `traceparent` is its header of that name."""
        self.in_progress += 1
        if not self._looks_closely and labels is not DOCUMENT:
            return None
        span = None if self._tracing is None else self._tracing.begin(method, traceparent)
        return WatchedRequest(self.meters, labels, span, self._tracing)

    def end(self, labels: Labels, status: int | None, seconds: float) -> None:
        """The request was answered with this status, or the client disconnected."""
        self.in_progress -= 1
        if self.meters is not None:
            self.meters.observe(SECONDS, labels, seconds)
            self.meters.count(REQUESTS, (*labels, outcome_of(status)))


class WatchedRequest:
    """One request, from its beginning until `end`."""

    __slots__ = ("_labels", "_meters", "_span", "_token", "_tracing", "worst")

    def __init__(
        self,
        meters: "Meters | None",
        labels: Labels,
        span: "RequestSpan | None",
        tracing: "Tracing | None",
    ) -> None:
        self._meters, self._labels, self._span, self._tracing = meters, labels, span, tracing
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
        token, status, is_noted = current_operation.set(name), 200, True
        span = None if self._tracing is None else self._tracing.begin_operation(name)
        try:
            return await result
        except Failure as failure:
            status = int(failure.status)
            raise
        except CredentialChanged:
            # It is refused with the whole document, or runs again.
            is_noted = False
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
            if is_noted and self._labels is DOCUMENT and self._meters is not None:
                self._meters.count(FIELDS, (name, outcome_of(status)))
