"""The structured log lines of one block, without what other work of this process logs meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from structlog import DropEvent
from structlog.testing import capture_logs

_of_this_block: ContextVar[bool] = ContextVar("of_this_block", default=False)


@contextmanager
def own_log_lines() -> Iterator[list[dict[str, Any]]]:
    """The lines that this task, and tasks it starts, log in the block."""

    def drop_others(logger: Any, name: str, line: Any) -> Any:
        if _of_this_block.get():
            return line
        raise DropEvent

    token = _of_this_block.set(True)
    try:
        with capture_logs(processors=[drop_others]) as lines:
            yield lines  # type: ignore[misc]
    finally:
        _of_this_block.reset(token)
