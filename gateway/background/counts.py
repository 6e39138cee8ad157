"""Writes what is counted in memory: every few seconds, and at a regular end of the process."""

from contextlib import suppress
from functools import partial

from gateway.background.tasks import BackgroundTask
from resolvers.operations.context import Services
from storage.dialects.sqlite.refusals import ChangesRefused


def counting_tasks(services: Services, seconds: float) -> list[BackgroundTask]:
    """The tasks that write what requests counted, which would be lost if the process were killed."""
    writers = {"document counts": services.document_counts.write, "usage": services.usage.write}
    return [
        BackgroundTask(name, partial(write, services.database), seconds) for name, write in writers.items()
    ]


async def write_counts(services: Services) -> None:
    """Write what was counted since the last time. The background tasks have ended."""
    # A database that is being moved takes no counts either.
    with suppress(ChangesRefused):
        await services.document_counts.write(services.database)
        await services.usage.write(services.database)
