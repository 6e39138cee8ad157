"""Stores the charges of the last window: in this process, or on a Redis server that processes share.

Both have the methods by which the `limits` library's moving window charges and reads a storage, and
`fits_at(key, limit, expiry, cost)`: the moment after which a cost fits, unless there are further charges.
Moments are seconds on the storage's clock, which `now()` reads.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import cast

from limits.aio.storage import RedisStorage
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

REDIS_TIMEOUT_SECONDS = 1.0
REDIS_CONNECTIONS = 32
# Longer than the server's timeout, so that a burst of requests is not mistaken for an outage.
CONNECTION_WAIT_SECONDS = 2.0
KEY_PREFIX = "duograph:limits"


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
        """(moment of the oldest charge, or now; the total cost of the charges in the window)."""
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


class RedisWindows(RedisStorage):
    """The library's Redis storage: an expiring list per subject, a moment per unit of cost, newest first.

    The moments are read from the charging host's wall clock, so hosts that share a Redis server need
    synchronized clocks (NTP). `url` is a `redis://`, `rediss://` or `unix://` address as redis-py reads it;
    another raises `ValueError`. A connection that broke while idle is replaced immediately, once; any other
    failure is raised as `redis.exceptions.RedisError` or `OSError`, after a second if the server hangs.
    """

    def __init__(self, url: str) -> None:
        self.pool = BlockingConnectionPool.from_url(
            url.removeprefix("async+"),
            max_connections=REDIS_CONNECTIONS,
            timeout=CONNECTION_WAIT_SECONDS,
            socket_timeout=REDIS_TIMEOUT_SECONDS,
            socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        )
        self.client = Redis(connection_pool=self.pool)
        super().__init__(
            "async+redis://",
            implementation="redispy",
            key_prefix=KEY_PREFIX,
            connection_pool=self.pool,  # type: ignore[arg-type]  # documented, missing in its annotation
        )

    def now(self) -> float:
        return time.time()

    async def fits_at(self, key: str, limit: int, expiry: int, cost: int) -> float:
        # The entry that the library's script compares: `cost` fits once this entry has left the window.
        entry = self.client.lindex(self.bridge.prefixed_key(key), limit - cost)
        moment = await cast("Awaitable[bytes | None]", entry)
        return float(moment) + expiry if moment else self.now()

    async def close(self) -> None:
        await self.client.aclose()
        await self.pool.aclose()
