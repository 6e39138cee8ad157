"""Log lines: one event each, for people or as JSON, and at no level a value that somebody sent.

Our own events name what they say. Libraries' messages are written as the text in their source, placeholders
included, because what they fill in may be a row, a header or a body; exceptions as `stack_of` has them.
"""

import logging
import sys
import threading
import warnings
from collections.abc import MutableMapping
from typing import Any

import structlog

from gateway.stacks import exception_of, stack_of

WITHHELD = "a message that is not in the source"
# Loggers whose messages are written with their values: what they log is ours, or says how the process is.
TRUSTED = ("gateway", "rest_compat", "resolvers", "schema", "oauth", "storage", "uvicorn", "alembic")
# Its messages without values are statements, whose values are all parameters.
STATEMENTS = "sqlalchemy.engine"

_Event = MutableMapping[str, Any]


def configure_logs(log_format: str, log_level: str) -> None:
    """`console` or `json`, on standard error, for our own lines and for those of the libraries.

    Libraries have their say from `warning` on, and with `debug`.
    """
    level = logging.getLevelNamesMapping()[log_level.upper()]
    renderer: structlog.typing.Processor = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    if log_format == "json":
        renderer = structlog.processors.JSONRenderer()
    shared = (
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _write_stack,
    )
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        foreign_pre_chain=[_add_logger, *shared],
    )
    _take_over_logging(formatter, level)


def take_over_process() -> None:
    """Have the interpreter's own complaints logged as others are; for processes that are ours alone.

    Their usual form repeats messages: those of exceptions that nobody caught, and warnings with values.
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
    """Standard error, for what goes by the standard library."""

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(_without_values(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """In short, as the usual form repeats the record's values."""
        sys.stderr.write(f"a log line of {record.name} could not be written\n")


def _take_over_logging(formatter: logging.Formatter, level: int) -> None:
    """Write what libraries log in the same form; the access log is ours, so uvicorn's is silent."""
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
    # With `debug` they would format every row, and tell of every hop to SQLite's thread.
    for busy in (STATEMENTS, "aiosqlite"):
        logging.getLogger(busy).setLevel(logging.INFO if level == logging.DEBUG else logging.NOTSET)


def _without_values(record: logging.LogRecord) -> logging.LogRecord:
    """The record as it can be written; another one, as other handlers have the first."""
    if record.name.partition(".")[0] in TRUSTED:
        return record
    bare = logging.makeLogRecord(record.__dict__)
    bare.args = ()
    is_statement = record.name.startswith(STATEMENTS) and not record.args
    if not is_statement and not _is_in_source(record):
        bare.msg = WITHHELD
    return bare


def _is_in_source(record: logging.LogRecord) -> bool:
    """Whether the message is a constant of the function that logs it, and so has no value in it."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        code = frame.f_code
        if code.co_filename == record.pathname and code.co_name == record.funcName:
            return isinstance(record.msg, str) and record.msg in code.co_consts
        frame = frame.f_back
    return False


def _add_logger(_: Any, __: str, event: _Event) -> _Event:
    record: logging.LogRecord = event["_record"]
    event.update(logger=record.name, place=f"{record.pathname}:{record.lineno}")
    return event


def _write_stack(_: Any, __: str, event: _Event) -> _Event:
    given = event.pop("exc_info", None)
    error = exception_of(sys.exc_info() if given is True else given)
    if error is not None:
        event["exception"] = stack_of(error)
    return event
