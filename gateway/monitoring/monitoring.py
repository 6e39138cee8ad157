"""Everything that monitors a gateway, as its settings say; what is off is not in the way of requests."""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import structlog

from gateway.monitoring import declarations as metrics
from gateway.monitoring.board import Board
from gateway.monitoring.numbers import Sample, combined
from gateway.monitoring.sockets import listening
from gateway.monitoring.sources import Questions, Sources
from gateway.monitoring.statements import Statements
from gateway.monitoring.watching import Watch
from gateway.settings.settings import Settings, SettingsError
from storage.engine.watched_statements import StatementWatch

if TYPE_CHECKING:
    from gateway.monitoring.tracing import Tracing

log = structlog.get_logger("gateway.monitoring")

SECONDS_BETWEEN_PINS = 1.0
BUDGETS = ("default", "restricted", "roof", "mails")
MAIL_OUTCOMES = ("sent", "postponed", "given_up")


class Monitoring:
    """Of one gateway. `watch` is None if requests are not monitored at all.

    `listen` and `share` come before processes are forked. A gateway that does not `listen` before it runs
    opens its port then. `refusals` counts charges that did not fit by budget, `mails` attempts by outcome.
    """

    def __init__(self, settings: Settings, tracer_provider: Any = None) -> None:
        """Raises `SettingsError` if traces are on and their packages are missing."""
        self._port, self._address = settings.metrics_port, settings.metrics_address
        self.tracing = _make_tracing(tracer_provider) if settings.traces else None
        is_slow_logged = settings.slow_statement_ms > 0
        needs_watch = self.serves_metrics or settings.traces or is_slow_logged
        self.watch = Watch(self.tracing, notes_operations=is_slow_logged) if needs_watch else None
        self._statements: Statements | None = None
        if settings.traces or settings.slow_statement_ms:
            self._statements = Statements(settings.slow_statement_ms, self.tracing)
        self.refusals: Counter[str] = Counter()
        self.mails: Counter[str] = Counter()
        self.listener: socket.socket | None = None
        self.board: Board | None = None
        self.sources: Sources | None = None

    @property
    def serves_metrics(self) -> bool:
        return self._port is not None

    @property
    def statement_watch(self) -> StatementWatch | None:
        return None if self._statements is None else self._statements.watch

    def listen(self) -> None:
        """Open the port of the metrics, if there is one. Raises `OSError`."""
        if self._port is not None and self.listener is None:
            self.listener = listening(self._address, self._port)
            log.info("metrics served", address=self._address, port=self.listener.getsockname()[1])

    def share(self) -> Board | None:
        """From now on, several processes share a board; None without metrics."""
        if self.serves_metrics:
            self.board = Board()
        return self.board

    @asynccontextmanager
    async def running(self, sources: Sources) -> AsyncIterator[None]:
        """Begin in the process that serves, until the block ends."""
        self.sources = sources
        async with AsyncExitStack() as stack:
            if self.tracing is not None:
                self.tracing.start()
                stack.push_async_callback(self.tracing.close)
            if self.watch is not None and self.serves_metrics:
                await stack.enter_async_context(self._serving(sources, Questions(sources.database)))
            yield

    @asynccontextmanager
    async def _serving(self, sources: Sources, questions: Questions) -> AsyncIterator[None]:
        # Prometheus's library is imported by those only who need it.
        from gateway.monitoring.serving import serving_metrics  # noqa: PLC0415

        async def read() -> list[Sample]:
            own = list(self._samples(sources))
            if self.board is None:
                return [*own, *await questions.samples()]
            self.board.pin(own)
            return [*self.board.read(), *await questions.samples()]

        self.listen()
        assert self.listener is not None  # noqa: S101 - there is a port
        pinning = asyncio.create_task(self._keep_pinning(sources), name="metrics")
        try:
            async with serving_metrics(self.listener, read):
                yield
        finally:
            pinning.cancel()
            with suppress(asyncio.CancelledError):
                await pinning
            self.listener.close()
            self.listener = None
            if self.board is not None:
                self.board.pin(list(self._samples(sources)))

    async def _keep_pinning(self, sources: Sources) -> None:
        """Share this process's samples every second, and note how late that happens."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + SECONDS_BETWEEN_PINS
            await asyncio.sleep(SECONDS_BETWEEN_PINS)
            sources.latenesses.append(max(loop.time() - due, 0.0))
            if self.board is not None:
                self.board.pin(list(self._samples(sources)))

    def _samples(self, sources: Sources) -> Iterator[Sample]:
        yield from sources.samples()
        if self.watch is not None:
            yield from combined(self.watch.tallies.samples())
            yield Sample(metrics.IN_PROGRESS.name, (), [self.watch.tallies.in_progress])
        for budget in BUDGETS:
            yield Sample(metrics.REFUSED_CHARGES.name, (budget,), [self.refusals[budget]])
        for outcome in MAIL_OUTCOMES:
            yield Sample(metrics.MAILS.name, (outcome,), [self.mails[outcome]])
        if self._statements is not None:
            yield Sample(metrics.SLOW_STATEMENTS.name, (), [self._statements.slow])


def _make_tracing(tracer_provider: Any) -> "Tracing":
    # OpenTelemetry is imported by those only who need it.
    from gateway.monitoring.tracing import Tracing, can_trace  # noqa: PLC0415

    if tracer_provider is None and not can_trace():
        raise SettingsError(
            "DUOGRAPH_TRACES needs more packages: run `pip install 'duograph[traces]'`, or unset it."
        )
    return Tracing(tracer_provider)
