"""Log lines: one event each, for people or as JSON, at no level with a value that a client sent.

Our own events name their values. Messages of libraries are written as they stand in the source, with their
placeholders, because the arguments may be a row, a header or a body. Exceptions are written by `stack_of`.
Lines of requests are collected in `gateway/logs/request_lines.py`; every other line writes those before it
first.
"""

import logging
import sys
import threading
import warnings
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TextIO

import structlog

from gateway.logs.request_lines import RequestLine, as_console, as_json, request_lines
from gateway.logs.stack_traces import exception_of, stack_of

WITHHELD = "a message that is not in the source"
# Loggers whose messages are written with their values: our own, and those about the state of the process.
TRUSTED = ("gateway", "rest_compat", "resolvers", "schema", "oauth", "storage", "uvicorn", "alembic")
# Its messages without arguments are SQL statements, which contain no values: all are parameters.
STATEMENTS = "sqlalchemy.engine"

# The id of the request in progress, which is in all of its lines.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

_Event = MutableMapping[str, Any]


def configure_logs(log_format: str, log_level: str) -> None:
    """Write our own lines and those of libraries to standard error, as `console` or `json`.

    Libraries are logged from `warning` on, and from `debug` on if that is the level.
    """
    level = _level_of(log_level)
    is_coloured = sys.stderr.isatty()
    renderer: structlog.typing.Processor = structlog.dev.ConsoleRenderer(colors=is_coloured)
    request_lines.write = _rendered_by(renderer) if is_coloured else as_console
    if log_format == "json":
        renderer, request_lines.write = structlog.processors.JSONRenderer(), as_json
    request_lines.stream = sys.stderr
    shared = (
        _add_request_id,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _write_stack,
    )
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(_AfterRequests(sys.stderr)),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        foreign_pre_chain=[_add_logger, *shared],
    )
    _take_over_logging(formatter, level)


def logs_requests(log_level: str) -> bool:
    """Whether lines of requests are written at this level."""
    return _level_of(log_level) <= logging.INFO


def _level_of(log_level: str) -> int:
    return logging.getLevelNamesMapping()[log_level.upper()]


def _rendered_by(renderer: structlog.typing.Processor) -> Callable[[RequestLine], str]:
    """A writer of request lines for a terminal; only structlog knows its colours."""

    def write(line: RequestLine) -> str:
        return str(renderer(None, "info", line.event)) + "\n"

    return write


class _AfterRequests:
    """The stream of all other lines; those for which the disk has no space are lost and fail no request."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        request_lines.flush()
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def take_over_process() -> None:
    """Log the interpreter's warnings and uncaught exceptions like other events, in processes of our own.

    Their usual form repeats messages, which may contain values.
    """
    log = structlog.get_logger()

    def log_warning(_: Any, category: type[Warning], filename: str, lineno: int, *__: Any) -> None:
        log.warning("python warning", category=category.__name__, place=f"{filename}:{lineno}")

    def log_thread(failed: threading.ExceptHookArgs) -> None:
        log.error("a thread failed", exc_info=failed.exc_value)

    def log_lost(failed: Any) -> None:
        log.error("an exception was lost", exc_info=failed.exc_value)

    def log_end(_: Any, error: BaseException, __: Any) -> None:
        log.critical("the process ends", exc_info=error)

    warnings.showwarning = log_warning  # type: ignore[assignment]
    threading.excepthook, sys.unraisablehook, sys.excepthook = log_thread, log_lost, log_end


class _Handler(logging.StreamHandler[Any]):
    """Writes records of the standard library's loggers to standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        request_lines.flush()
        super().emit(_without_values(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Report the failure in a few words, because the usual form repeats the record's values."""
        with suppress(OSError):
            sys.stderr.write(f"a log line of {record.name} could not be written\n")


def _take_over_logging(formatter: logging.Formatter, level: int) -> None:
    """Write the records of libraries in the same form. The access log is ours, so uvicorn's is disabled."""
    handler = _Handler(sys.stderr)
    handler.set_name("duograph")
    handler.setFormatter(formatter)
    root = logging.getLogger()
    for earlier in [other for other in root.handlers if other.get_name() == "duograph"]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(level if level != logging.INFO else logging.WARNING)
    logging.getLogger("uvicorn").setLevel(level)
    logging.getLogger("uvicorn.access").disabled = True
    # At `debug` they would format every row and report every switch to SQLite's thread.
    for busy in (STATEMENTS, "aiosqlite"):
        logging.getLogger(busy).setLevel(logging.INFO if level == logging.DEBUG else logging.NOTSET)


def _without_values(record: logging.LogRecord) -> logging.LogRecord:
    """The record without its values: a copy, because other handlers use the original."""
    if record.name.partition(".")[0] in TRUSTED:
        return record
    bare = logging.makeLogRecord(record.__dict__)
    bare.args = ()
    is_statement = record.name.startswith(STATEMENTS) and not record.args
    if not is_statement and not _is_in_source(record):
        bare.msg = WITHHELD
    return bare


def _is_in_source(record: logging.LogRecord) -> bool:
    """Whether the message is a constant of the function that logs it and so contains no value."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        code = frame.f_code
        if code.co_filename == record.pathname and code.co_name == record.funcName:
            return isinstance(record.msg, str) and record.msg in code.co_consts
        frame = frame.f_back
    return False


def _add_request_id(_: Any, __: str, event: _Event) -> _Event:
    current = request_id.get()
    return event if current is None else {"request_id": current, **event}


def _add_logger(_: Any, __: str, event: _Event) -> _Event:
    record: logging.LogRecord = event["_record"]
    event["logger"] = record.name
    if record.levelno != logging.INFO:
        # Who reads that all is well looks for no line of code.
        event["place"] = f"{record.pathname}:{record.lineno}"
    return event


def _write_stack(_: Any, __: str, event: _Event) -> _Event:
    exc_info = event.pop("exc_info", None)
    error = exception_of(sys.exc_info() if exc_info is True else exc_info)
    if error is not None:
        event["exception"] = stack_of(error)
    return event
