"""Traces for OpenTelemetry: a span for each request, operation, statement and email.

Spans say what the gateway did, never what a caller sent: names of operations, templates of paths, and
statements with places instead of values. Messages of exceptions are left out, because they repeat values.
"""

import asyncio
from contextlib import AbstractContextManager, suppress
from importlib.util import find_spec
from threading import Thread
from types import TracebackType
from typing import Any

from opentelemetry import context as contexts
from opentelemetry.trace import (
    Span,
    SpanKind,
    StatusCode,
    Tracer,
    TracerProvider,
    format_trace_id,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

LONGEST_TEXT = 2_000
FAILED = 500
SECONDS_TO_SEND = 5
SDK = "opentelemetry.sdk"
EXPORTER = "opentelemetry.exporter.otlp.proto.http"

_propagator = TraceContextTextMapPropagator()


def can_trace() -> bool:
    """Whether the packages of the extra `traces` are installed."""
    try:
        return all(find_spec(name) is not None for name in (SDK, EXPORTER))
    except ModuleNotFoundError:
        return False


class Tracing:
    """Begins spans once it has `start`ed, which happens in the process that serves."""

    def __init__(self, provider: Any = None) -> None:
        """`provider` takes the place of the SDK's, which exports over OTLP as its variables say."""
        self._provider = provider
        self._tracer: Tracer | None = None

    def start(self) -> None:
        """Threads do not survive a fork, so the SDK begins after it."""
        if self._provider is None:
            self._provider = _make_provider()
        provider: TracerProvider = self._provider
        self._tracer = provider.get_tracer("duograph")

    async def close(self) -> None:
        """Send what has not been sent yet, within `SECONDS_TO_SEND`.

        The SDK would try for half a minute, in which what stops the gateway kills it, before its log lines
        and counts are written.
        """
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def shut_down() -> None:
            self._provider.shutdown()
            # The loop may have been closed meanwhile.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(ended.set)

        # The end of the process does not wait for such a thread.
        Thread(target=shut_down, name="end of traces", daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_TO_SEND):
                await ended.wait()

    def begin(self, method: str, traceparent: bytes | None) -> "RequestSpan | None":
        """The span of a request, below the caller's own if the header says so."""
        if self._tracer is None:
            return None
        # Without the caller's `tracestate` and `baggage`, which may have any text.
        carrier = {} if traceparent is None else {"traceparent": traceparent.decode("latin-1")}
        parent = _propagator.extract(carrier, contexts.Context())
        return RequestSpan(self._tracer.start_span(method, parent, SpanKind.SERVER), method)

    def begin_operation(self, name: str) -> "WorkSpan | None":
        return None if self._tracer is None else WorkSpan(self._tracer.start_span(name))

    def begin_delivery(self, attempt: int) -> "WorkSpan | None":
        """The span of an attempt to deliver an email, a trace of its own."""
        if self._tracer is None:
            return None
        attributes = {"duograph.mail.attempt": attempt}
        span = self._tracer.start_span("deliver mail", contexts.Context(), SpanKind.PRODUCER, attributes)
        return WorkSpan(span)

    def statement(self, text: str) -> AbstractContextManager[None] | None:
        """The span of a statement; None outside of traces, as for most background work."""
        if self._tracer is None or not get_current_span().is_recording():
            return None
        verb = text.split(None, 1)[0].upper()
        attributes = {"db.operation.name": verb, "db.query.text": text[:LONGEST_TEXT]}
        return StatementSpan(self._tracer.start_span(verb, kind=SpanKind.CLIENT, attributes=attributes))


class _CurrentSpan:
    """A span that others are below until it ends."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self._context = set_span_in_context(span)
        self._token = contexts.attach(self._context)

    def _end(self) -> None:
        # A coroutine that was left behind is closed elsewhere.
        if contexts.get_current() is self._context:
            contexts.detach(self._token)
        self._span.end()


class WorkSpan(_CurrentSpan):
    """The span of an operation or a delivery, until `end`."""

    def end(self, status: int | None = None, **attributes: str) -> None:
        """End it with the status of an answer; 500 and above are errors."""
        if status is not None and status >= FAILED:
            self._span.set_status(StatusCode.ERROR)
        for name, value in attributes.items():
            self._span.set_attribute(f"duograph.{name}", value)
        self._end()


class RequestSpan(_CurrentSpan):
    """The span of a request, until `end`."""

    def __init__(self, span: Span, method: str) -> None:
        super().__init__(span)
        self._method = method

    @property
    def trace_id(self) -> str:
        return format_trace_id(self._span.get_span_context().trace_id)

    def end(self, status: int | None, template: str, surface: str, operation: str) -> None:
        if self._span.is_recording():
            self._span.update_name(f"{self._method} {template}")
            self._span.set_attributes(
                {
                    "http.request.method": self._method,
                    "http.route": template,
                    "duograph.surface": surface,
                    "duograph.operation": operation,
                }
            )
            if status is not None:
                self._span.set_attribute("http.response.status_code", status)
                if status >= FAILED:
                    self._span.set_status(StatusCode.ERROR)
        self._end()


class StatementSpan(AbstractContextManager[None]):
    """The span of a statement while it runs."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._span.set_attribute("error.type", kind.__name__)
            self._span.set_status(StatusCode.ERROR)
        self._span.end()


def _make_provider() -> Any:
    """The SDK's provider. Raises `ImportError` without the extra `traces`."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "duograph"}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
