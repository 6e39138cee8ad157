"""Reads that several followers of a log ask for at a time, and that are done once for all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

Result = TypeVar("Result")

# Followers that are woken together come within this time; whoever comes later reads again.
SECONDS_KEPT = 0.2


class SharedReads:
    """Reads that have begun, each by its key, which says what is read and since when it is up to date."""

    def __init__(self) -> None:
        self._reads: dict[Hashable, asyncio.Task[Any]] = {}

    async def read(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
        """What `work` answers, or what it answered to whoever asked for the same shortly before.

        It goes on if the one who asks is cancelled, for the others. Raises what `work` raises.
        """
        task: asyncio.Task[Result] | None = self._reads.get(key)
        if task is None:
            task = asyncio.create_task(_run(work), name="shared read")
            # Its error is met by those who wait for it, if there still are any.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._reads[key] = task
            asyncio.get_running_loop().call_later(SECONDS_KEPT, self._reads.pop, key)
        return await asyncio.shield(task)


async def _run(work: Callable[[], Awaitable[Result]]) -> Result:
    return await work()
