"""Work that the gateway does beside requests, in pieces, from its start until its end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import structlog

log = structlog.get_logger()

# What the names of the asyncio tasks begin with.
TASK_NAME = "background "


@dataclass
class BackgroundTask:
    """`run` does one bounded piece and says whether there is more; without more it rests `every` seconds.

    Several processes run the same tasks on one database, so a piece has to claim what it works on.
    """

    name: str
    run: Callable[[], Awaitable[bool]]
    every: float
    _woken: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def wake(self) -> None:
        """Look for work now; to be called after the commit that made some."""
        self._woken.set()

    async def rest(self) -> None:
        # Not by wait_for, which in Python 3.11 loses a cancellation that comes together with the waking.
        with suppress(TimeoutError):
            async with asyncio.timeout(self.every):
                await self._woken.wait()


@asynccontextmanager
async def running(tasks: Sequence[BackgroundTask]) -> AsyncIterator[None]:
    """Run the tasks until the block is left; a piece under way is cancelled, which undoes its transaction."""
    running = [asyncio.create_task(_keep_running(task), name=TASK_NAME + task.name) for task in tasks]
    try:
        yield
    finally:
        left = set(running)
        while left:
            for each in left:
                each.cancel()
            # A library that a piece waits in may lose a cancellation, so it is told again.
            _, left = await asyncio.wait(left, timeout=1)


async def _keep_running(task: BackgroundTask) -> None:
    while True:
        task._woken.clear()
        try:
            more = await task.run()
        except Exception:
            log.exception("background task failed", task=task.name)
            more = False
        if not more:
            await task.rest()
