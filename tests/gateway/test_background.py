"""Background tasks: woken when there is work, and gone when the gateway ends."""

import asyncio

from gateway.background.tasks import BackgroundTask, running


async def test_a_task_that_is_woken_looks_at_once() -> None:
    ran = asyncio.Semaphore(0)

    async def run() -> bool:
        ran.release()
        return False

    task = BackgroundTask("test", run, every=3600)
    async with running([task]):
        await ran.acquire()
        task.wake()
        await ran.acquire()


async def test_a_task_that_is_woken_while_the_gateway_ends_ends_with_it() -> None:
    started = asyncio.Event()

    async def run() -> bool:
        started.set()
        return False

    task = BackgroundTask("test", run, every=3600)
    async with running([task]):
        await started.wait()
        await asyncio.sleep(0)
        task.wake()


async def test_a_piece_that_swallows_its_end_is_told_again() -> None:
    started = asyncio.Event()

    async def run() -> bool:
        if started.is_set():
            await asyncio.Event().wait()
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return True
        return False

    async with running([BackgroundTask("test", run, every=3600)]):
        await started.wait()
