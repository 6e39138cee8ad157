"""Who sees which statements run: kept ones, commits, and those of SQLAlchemy."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

log = logging.getLogger(__name__)

Listener = Callable[[str], None]
# Entered with the text of a statement, which has places instead of values, and left when it has run.
StatementWatch = Callable[[str], AbstractContextManager[None]]

_WATCHES = "watches"
_UNWATCHED = nullcontext()


class Watching:
    """What sees a pool's statements: listeners the texts of kept ones, a watch all of them as they run."""

    def __init__(self, watch: StatementWatch | None) -> None:
        # Whether the log shows statements is asked once: asking at each one takes 0.5 % of a short request.
        self.listeners: list[Listener] = [partial(log.debug, "%s")] if log.isEnabledFor(logging.DEBUG) else []
        self._watch = watch

    @property
    def is_idle(self) -> bool:
        """Whether nobody sees statements."""
        return self._watch is None and not self.listeners

    def tell(self, text: str) -> None:
        """Tell the listeners which kept statement runs."""
        for listener in self.listeners:
            listener(text)

    def watched(self, text: str) -> AbstractContextManager[None]:
        """What a statement runs in."""
        return _UNWATCHED if self._watch is None else self._watch(text)


def watch_engine(engine: Engine, watch: StatementWatch) -> None:
    """Watch the statements that SQLAlchemy builds and runs on connections of the engine."""

    def before(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        watched = watch(statement)
        watched.__enter__()
        connection.info.setdefault(_WATCHES, []).append(watched)

    def after(connection: Any, *_: Any) -> None:
        connection.info[_WATCHES].pop().__exit__(None, None, None)

    def failed(context: Any) -> None:
        if context.connection is not None and (watches := context.connection.info.get(_WATCHES)):
            error = context.original_exception
            watches.pop().__exit__(type(error), error, None)

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "after_cursor_execute", after)
    event.listen(engine, "handle_error", failed)
