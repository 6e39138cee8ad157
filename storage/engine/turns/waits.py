"""Units of work that wait for a connection of a pool."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import Any, NamedTuple

from sqlalchemy.exc import TimeoutError as PoolTimeout

# How long a unit of work waits for a connection.
PATIENCE_SECONDS = 30


class Waiter(NamedTuple):
    """A unit of work that waits for a connection, or for None if it is to open one. It gives up at `end`."""

    served: "asyncio.Future[Any]"
    end: float


class Waits:
    """Those who wait, by key. The keys take turns, and those of one key are served in the order of asking.

    One timer ends the waits that last too long, by SQLAlchemy's `TimeoutError`: most are short.
    """

    def __init__(self) -> None:
        self._waiting: dict[str | None, deque[Waiter]] = {}
        self._look: asyncio.TimerHandle | None = None
        self._look_at = inf

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, key: str | None) -> Waiter:
        loop = asyncio.get_running_loop()
        waiter = Waiter(loop.create_future(), loop.time() + PATIENCE_SECONDS)
        self._waiting.setdefault(key, deque()).append(waiter)
        if waiter.end < self._look_at:
            self._look_again(loop, waiter.end)
        return waiter

    def take_next(self, may_have_one: Callable[[str | None], bool]) -> Waiter | None:
        """Remove and return the next waiter whose key may have a connection; None if there is none."""
        for key, queue in self._waiting.items():
            while queue and queue[0].served.done():
                queue.popleft()
            if queue and may_have_one(key):
                waiter = queue.popleft()
                del self._waiting[key]
                if queue:
                    self._waiting[key] = queue
                return waiter
        return None

    def leave(self, key: str | None, waiter: Waiter) -> None:
        """Let it wait no longer."""
        queue = self._waiting.get(key)
        if queue is not None:
            with suppress(ValueError):
                queue.remove(waiter)
            if not queue:
                del self._waiting[key]

    def _end_waits(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the waits that have lasted too long, and look again when the next one has."""
        waiting = [each for queue in self._waiting.values() for each in queue if not each.served.done()]
        moment = loop.time()
        for each in waiting:
            if each.end <= moment:
                _give_up(each)
        self._look_again(loop, min((each.end for each in waiting if each.end > moment), default=inf))

    def _look_again(self, loop: asyncio.AbstractEventLoop, moment: float) -> None:
        if self._look is not None:
            self._look.cancel()
        self._look = None if moment == inf else loop.call_at(moment, self._end_waits, loop)
        self._look_at = moment


def _give_up(waiter: Waiter) -> None:
    refusal = PoolTimeout(f"No connection to the database got free within {PATIENCE_SECONDS} seconds.")
    waiter.served.set_exception(refusal)
