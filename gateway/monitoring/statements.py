"""Slow statements: logged with their operation, without their values, and counted."""

from contextlib import AbstractContextManager
from time import monotonic, perf_counter
from types import TracebackType
from typing import TYPE_CHECKING

import structlog

from gateway.logs.current_operation import current_operation

if TYPE_CHECKING:
    from gateway.monitoring.tracing import Tracing

log = structlog.get_logger("gateway.monitoring")

# When every statement is slow, the log is not to fill the disk.
MOST_LINES, SECONDS_OF_A_WINDOW = 20, 60
LONGEST_TEXT = 2_000


class Statements:
    """Watches every statement: a span if `tracing`, and a log line after `slow_ms`, if that is not 0."""

    def __init__(self, slow_ms: int, tracing: "Tracing | None") -> None:
        self._slow_seconds = slow_ms / 1000 if slow_ms else float("inf")
        self._tracing = tracing
        self.slow = 0
        self._window_ends = 0.0
        self._lines = self._withheld = 0

    def watch(self, text: str) -> AbstractContextManager[None]:
        """To be entered when the statement begins; its text has places instead of values."""
        return _Statement(self, text)

    def begin_span(self, text: str) -> "AbstractContextManager[None] | None":
        return None if self._tracing is None else self._tracing.statement(text)

    def end(self, text: str, seconds: float) -> None:
        """Log the statement if it was slow: at most 20 a minute; the next line says how many were not."""
        if seconds < self._slow_seconds:
            return
        self.slow += 1
        if monotonic() >= self._window_ends:
            self._window_ends, self._lines = monotonic() + SECONDS_OF_A_WINDOW, 0
        if self._lines == MOST_LINES:
            self._withheld += 1
            return
        self._lines += 1
        withheld, self._withheld = self._withheld, 0
        log.warning(
            "slow statement",
            operation=current_operation.get(),
            milliseconds=round(seconds * 1000, 1),
            statement=text[:LONGEST_TEXT],
            **({"withheld": withheld} if withheld else {}),
        )


class _Statement(AbstractContextManager[None]):
    __slots__ = ("_began", "_span", "_statements", "_text")

    def __init__(self, statements: Statements, text: str) -> None:
        self._statements, self._text = statements, text

    def __enter__(self) -> None:
        self._span = self._statements.begin_span(self._text)
        if self._span is not None:
            self._span.__enter__()
        self._began = perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = perf_counter() - self._began
        if self._span is not None:
            self._span.__exit__(kind, error, trace)
        self._statements.end(self._text, seconds)
