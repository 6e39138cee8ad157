"""Writes what is counted in memory: every few seconds, and at a regular end of the process."""

from collections.abc import Awaitable, Callable
from functools import partial

import structlog

from gateway.background.tasks import BackgroundTask
from resolvers.operations.context import Services
from storage.dialects.sqlite.refusals import ChangesRefused
from storage.engine.database import Database
from storage.engine.outages import is_outage

log = structlog.get_logger()


def counting_tasks(services: Services, seconds: float) -> list[BackgroundTask]:
    """The tasks that write what requests counted, which would be lost if the process were killed."""
    return [
        BackgroundTask(name, partial(write, services.database), seconds)
        for name, write in _writers(services).items()
    ]


def _writers(services: Services) -> dict[str, Callable[[Database], Awaitable[bool]]]:
    return {"document counts": services.document_counts.write, "usage": services.usage.write}


async def write_counts(services: Services) -> None:
    """Write what was counted since the last time. The background tasks have ended."""
    for name, write in _writers(services).items():
        try:
            await write(services.database)
        except ChangesRefused:
            # A database that is being moved takes no counts either.
            continue
        except Exception as error:
            if not is_outage(error):
                raise
            log.warning("counts are lost: the database is not available", counts=name)
