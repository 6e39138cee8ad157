"""Charges kept on a Redis server. Only gateways with such a server import this module and its libraries."""

import time
from collections.abc import Awaitable
from typing import cast

from limits.aio.storage import RedisStorage
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

REDIS_TIMEOUT_SECONDS = 1.0
REDIS_CONNECTIONS = 32
# Longer than the server's timeout, so that a burst of requests is not mistaken for an outage.
CONNECTION_WAIT_SECONDS = 2.0
KEY_PREFIX = "duograph:limits"


class RedisWindows(RedisStorage):
    """The library's Redis storage: an expiring list per subject, a moment per unit of cost, newest first.

    The moments are read from the charging host's wall clock, so hosts that share a Redis server need
    synchronized clocks (NTP). `url` is a `redis://`, `rediss://` or `unix://` address as redis-py reads it;
    another raises `ValueError`. A connection that broke while idle is replaced immediately, once; any other
    failure is raised as one of `failures`, after a second if the server hangs.
    """

    failures = (RedisError, OSError)

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
