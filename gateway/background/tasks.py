"""Work that the gateway does in the background, in pieces, for as long as it runs."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import structlog

from gateway.logs.current_operation import current_operation
from storage.dialects.sqlite.refusals import ChangesRefused
from storage.engine.outages import is_outage

log = structlog.get_logger()

# The prefix of the names of the asyncio tasks.
TASK_NAME = "background "


@dataclass
class BackgroundTask:
    """`run` does one bounded piece and returns whether there is more; if not, the task rests `every` seconds.

    Several processes run the same tasks on one database, so a piece has to claim the rows it works on.
    `runs` counts the pieces, and `failures` those that raised, by the reason: the class of the first error.
    """

    name: str
    run: Callable[[], Awaitable[bool]]
    every: float
    runs: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    _woken: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def wake(self) -> None:
        """Look for work now. Call this after the commit that creates the work."""
        self._woken.set()

    async def rest(self) -> None:
        # Not `wait_for`, which in Python 3.11 loses a cancellation that arrives together with the wake-up.
        with suppress(TimeoutError):
            async with asyncio.timeout(self.every):
                await self._woken.wait()


@asynccontextmanager
async def running(tasks: Sequence[BackgroundTask]) -> AsyncIterator[None]:
    """Run the tasks until the block ends; a piece in progress is cancelled and rolled back."""
    asyncio_tasks = [asyncio.create_task(_keep_running(task), name=TASK_NAME + task.name) for task in tasks]
    try:
        yield
    finally:
        pending = set(asyncio_tasks)
        while pending:
            for each in pending:
                each.cancel()
            # A library may lose a cancellation while a piece waits in it, so the task is cancelled again.
            _, pending = await asyncio.wait(pending, timeout=1)


async def _keep_running(task: BackgroundTask) -> None:
    refusal = None
    current_operation.set(TASK_NAME + task.name)
    while True:
        task._woken.clear()
        task.runs += 1
        try:
            more = await task.run()
            refusal = None
        except ChangesRefused as refused:
            # For as long as the database is moved: once in the log is enough.
            if str(refused) != refusal:
                refusal = str(refused)
                log.warning("background task waits", task=task.name, reason=refusal)
            more = False
        except Exception as error:
            task.failures[type(_first(error)).__name__] += 1
            if is_outage(error):
                log.warning("background task waits for the database", task=task.name)
            else:
                log.exception("background task failed", task=task.name)
            more = False
        if not more:
            await task.rest()


def _first(error: BaseException) -> BaseException:
    """The error that caused the others: a driver's own says more than the one that SQLAlchemy makes of it."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error
