"""Log lines: one event each, for people or as JSON; tracebacks leave out local values, which hold secrets."""

import logging
import sys

import structlog

_SHARED: tuple[structlog.typing.Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure_logs(log_format: str) -> None:
    """`console` or `json`, on standard error, for our own lines and for those of the libraries."""
    renderers: tuple[structlog.typing.Processor, ...] = (
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        ),
    )
    if log_format == "json":
        renderers = (structlog.processors.format_exc_info, structlog.processors.JSONRenderer())
    structlog.configure(
        processors=[*_SHARED, *renderers],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    _take_over_logging(renderers)


def _take_over_logging(renderers: tuple[structlog.typing.Processor, ...]) -> None:
    """Write what libraries log in the same form; the access log is ours, so uvicorn's is silent."""
    handler = logging.StreamHandler(sys.stderr)
    handler.set_name("duograph")
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
            foreign_pre_chain=list(_SHARED),
        )
    )
    root = logging.getLogger()
    for earlier in [other for other in root.handlers if other.get_name() == "duograph"]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    logging.getLogger("uvicorn").setLevel(logging.INFO)
    logging.getLogger("uvicorn.access").disabled = True
