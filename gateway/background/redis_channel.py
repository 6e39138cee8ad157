"""Messages between processes by Redis. Only gateways with such a server import this module."""

import asyncio
from contextlib import suppress

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from gateway.background.tasks import TASK_NAME
from gateway.rate_limits.redis_windows import REDIS_TIMEOUT_SECONDS
from storage.changes.announcements import Heard

# Redis answers nothing while nothing is told.
SECONDS_BETWEEN_PINGS = 15


class RedisChannel:
    """PUBLISH and SUBSCRIBE on one channel. `url` is as `RedisWindows` takes it."""

    def __init__(self, url: str, name: str) -> None:
        self._name = name
        address = url.removeprefix("async+")
        self._client = Redis.from_url(
            address, socket_connect_timeout=REDIS_TIMEOUT_SECONDS, socket_timeout=REDIS_TIMEOUT_SECONDS
        )
        # It waits for what comes: its connection has no time-out.
        self._listener = Redis.from_url(
            address,
            socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
            health_check_interval=SECONDS_BETWEEN_PINGS,
        )
        self._task: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._task is not None and not self._task.done()

    async def open(self, heard: Heard) -> None:
        await self._end()
        subscription = self._listener.pubsub()
        try:
            await subscription.subscribe(self._name)
        except BaseException:
            await subscription.aclose()  # type: ignore[no-untyped-call]
            raise
        self._task = asyncio.create_task(_listen(subscription, heard), name=f"{TASK_NAME}redis messages")

    async def send(self, message: str) -> bool:
        return bool(await self._client.publish(self._name, message))

    async def close(self) -> None:
        await self._end()
        await self._client.aclose()
        await self._listener.aclose()

    async def _end(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _listen(subscription: PubSub, heard: Heard) -> None:
    """Hear messages until the connection is lost; it is opened again at the next look."""
    try:
        with suppress(RedisError, OSError):
            async for message in subscription.listen():
                if message["type"] == "message":
                    heard(message["data"].decode())
    finally:
        await subscription.aclose()  # type: ignore[no-untyped-call]
