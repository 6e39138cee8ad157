"""Whether claimed deliveries may still be sent: a slow receiver leaves time for a token to be revoked."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

# What a credential may no longer read is not sent after 5 seconds.
SECONDS_BETWEEN_CHECKS = 3


class Permission:
    """What was looked up when the deliveries were claimed; `look` says whether it is the same now."""

    def __init__(self, look: Callable[[], Awaitable[bool]]) -> None:
        self._look = look
        self._checked_at, self._holds = monotonic(), True
        self._checking = asyncio.Lock()

    async def holds(self) -> bool:
        """Whether it holds, looked up again every three seconds."""
        async with self._checking:
            if self._holds and monotonic() - self._checked_at >= SECONDS_BETWEEN_CHECKS:
                self._checked_at = monotonic()
                self._holds = await self._look()
            return self._holds
