"""Everything that monitors a gateway, as its settings say; what is off is not in the way of requests."""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import structlog

from gateway.monitoring import declarations as metrics
from gateway.monitoring.sockets import listening
from gateway.monitoring.sources import Questions, Sources
from gateway.monitoring.statements import Statements
from gateway.monitoring.watching import Watch
from gateway.settings.settings import Settings, SettingsError
from storage.engine.statements.watched import StatementWatch

if TYPE_CHECKING:
    from gateway.monitoring.meters import Meters, Shared
    from gateway.monitoring.tracing import Tracing

log = structlog.get_logger("gateway.monitoring")

SECONDS_BETWEEN_UPDATES = 1.0
BUDGETS = ("default", "restricted", "roof", "mails")
MAIL_OUTCOMES = ("sent", "postponed", "given_up")


class Monitoring:
    """Of one gateway. `watch` is None if requests are not monitored at all.

    `listen` and `sharing` come before processes are forked. A gateway that does not `listen` before it runs
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
        self.shared: Shared | None = None
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

    @contextmanager
    def sharing(self) -> Iterator["Shared | None"]:
        """Processes that are forked in the block share their metrics; None without metrics."""
        if not self.serves_metrics:
            yield None
            return
        from gateway.monitoring.meters import Shared  # noqa: PLC0415

        with TemporaryDirectory(prefix="duograph-metrics-") as folder:
            self.shared = Shared(Path(folder))
            yield self.shared

    @asynccontextmanager
    async def running(self, sources: Sources) -> AsyncIterator[None]:
        """Begin in the process that serves, until the block ends."""
        self.sources = sources
        async with AsyncExitStack() as stack:
            if self.tracing is not None:
                self.tracing.start()
                stack.push_async_callback(self.tracing.close)
            if self.watch is not None and self.serves_metrics:
                await stack.enter_async_context(self._serving(self.watch, sources))
            yield

    @asynccontextmanager
    async def _serving(self, watch: Watch, sources: Sources) -> AsyncIterator[None]:
        # Prometheus's library is imported by those only who need it.
        from gateway.monitoring.meters import Meters  # noqa: PLC0415
        from gateway.monitoring.serving import serving_metrics  # noqa: PLC0415

        meters, questions = Meters(self.shared), Questions(sources.database)
        watch.meters = meters

        async def update() -> None:
            self._tell(meters, watch, sources)
            await questions.tell(meters)

        self.listen()
        assert self.listener is not None  # noqa: S101 - there is a port
        updating = asyncio.create_task(self._keep_telling(meters, watch, sources), name="metrics")
        try:
            async with serving_metrics(self.listener, meters, update):
                yield
        finally:
            updating.cancel()
            with suppress(asyncio.CancelledError):
                await updating
            self.listener.close()
            self.listener = None
            self._tell(meters, watch, sources)

    async def _keep_telling(self, meters: "Meters", watch: Watch, sources: Sources) -> None:
        """Update this process's metrics every second, and note how late that happens."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + SECONDS_BETWEEN_UPDATES
            await asyncio.sleep(SECONDS_BETWEEN_UPDATES)
            sources.latenesses.append(max(loop.time() - due, 0.0))
            self._tell(meters, watch, sources)

    def _tell(self, meters: "Meters", watch: Watch, sources: Sources) -> None:
        sources.tell(meters)
        meters.tell(metrics.IN_PROGRESS, watch.in_progress)
        for budget in BUDGETS:
            meters.tell(metrics.REFUSED_CHARGES, self.refusals[budget], budget)
        for outcome in MAIL_OUTCOMES:
            meters.tell(metrics.MAILS, self.mails[outcome], outcome)
        if self._statements is not None:
            meters.tell(metrics.SLOW_STATEMENTS, self._statements.slow)


def _make_tracing(tracer_provider: Any) -> "Tracing":
    # OpenTelemetry is imported by those only who need it.
    from gateway.monitoring.tracing import Tracing, can_trace  # noqa: PLC0415

    if tracer_provider is None and not can_trace():
        raise SettingsError(
            "DUOGRAPH_TRACES needs more packages: run `pip install 'duograph[traces]'`, or unset it."
        )
    return Tracing(tracer_provider)
