"""Stores of the charges of the last window: their interface, and the store in memory."""

import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Protocol


class Windows(Protocol):
    """A store of charges: the methods that the `limits` library's moving window calls, and three more.

    Moments are seconds on the store's clock, which `now()` reads.
    """

    def now(self) -> float: ...

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool: ...

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """(moment of the oldest charge, or now; the total cost of the charges in the window)."""

    async def fits_at(self, key: str, limit: int, expiry: int, cost: int) -> float:
        """The moment after which the cost fits, unless there are further charges."""

    async def close(self) -> None: ...


@dataclass(slots=True)
class Window:
    """The charges of one subject, oldest first, as (moment, cost)."""

    charges: deque[tuple[float, int]] = field(default_factory=deque)
    used: int = 0


class MemoryWindows:
    """Windows in this process.

    After every charge the library's own storage visits all keys in a background task, with a thread for each
    key; 1,000 subjects kept one core busy. Here a charge is one entry whatever its cost, and subjects are
    ordered by their newest charge, so each charge first drops the subjects that have left the window and
    visits no others. The methods never wait, so they need no lock. Only the subjects of the last window are
    kept.
    """

    def __init__(self) -> None:
        self.windows: OrderedDict[str, Window] = OrderedDict()

    def now(self) -> float:
        return time.monotonic()

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        now = self.now()
        self._drop_idle_subjects(now - expiry)
        window = self._trimmed(key, now - expiry)
        if window.used + amount > limit:
            return False
        self.windows[key] = window
        self.windows.move_to_end(key)
        window.charges.append((now, amount))
        window.used += amount
        return True

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        now = self.now()
        window = self._trimmed(key, now - expiry)
        return (window.charges[0][0] if window.charges else now), window.used

    async def fits_at(self, key: str, limit: int, expiry: int, cost: int) -> float:
        now = self.now()
        window = self._trimmed(key, now - expiry)
        used = window.used
        if used + cost <= limit:
            return now
        for moment, charged in window.charges:
            used -= charged
            if used + cost <= limit:
                return moment + expiry
        return now + expiry

    async def close(self) -> None:
        self.windows.clear()

    def _trimmed(self, key: str, cutoff: float) -> Window:
        window = self.windows.get(key) or Window()
        charges = window.charges
        while charges and charges[0][0] < cutoff:
            window.used -= charges.popleft()[1]
        return window

    def _drop_idle_subjects(self, cutoff: float) -> None:
        while self.windows:
            key = next(iter(self.windows))
            charges = self.windows[key].charges
            if charges and charges[-1][0] >= cutoff:
                return
            del self.windows[key]
