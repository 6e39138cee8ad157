"""The tasks by which those who follow a change log here learn what other processes commit."""

from contextlib import suppress
from functools import partial

from gateway.background.tasks import BackgroundTask
from gateway.settings.settings import Settings
from resolvers.operations.context import Services
from storage.changes import announcements, followers
from storage.changes.announcements import Announcements, Channel, PostgresqlChannel, SqliteWatch

SECONDS_BETWEEN_LOOKS_AT_SQLITE = 0.1


class FollowingTasks:
    """Who follows a log looks into it once a second. Before that, PostgreSQL or Redis tells processes of each
    other's commits, and SQLite counts them.
    """

    def __init__(self, settings: Settings, services: Services) -> None:
        own, database = services.followers, services.database
        self._announcements: Announcements | None = None
        looking = partial(own.look, database)
        self.tasks = [BackgroundTask("followers", looking, every=followers.SECONDS_BETWEEN_LOOKS)]
        if database.is_sqlite:
            watch = SqliteWatch(database, own)
            self.tasks.append(BackgroundTask("commits", watch.run, every=SECONDS_BETWEEN_LOOKS_AT_SQLITE))
        elif (channel := _channel(settings, services)) is not None:
            task = BackgroundTask("announcements", self._announce, every=followers.SECONDS_BETWEEN_LOOKS)
            self._announcements = Announcements(channel, own, database, task.wake)
            own.has_come = task.wake
            self.tasks.append(task)

    async def _announce(self) -> bool:
        return self._announcements is not None and await self._announcements.run()

    async def close(self) -> None:
        """Hear nothing more."""
        if self._announcements is not None:
            with suppress(OSError):
                await self._announcements.close()


def _channel(settings: Settings, services: Services) -> Channel | None:
    """What tells; None behind a pooler in transaction mode, on whose connections nothing can be heard."""
    if settings.redis_url is not None:
        from gateway.background.redis_channel import RedisChannel  # noqa: PLC0415 - loads its libraries

        return RedisChannel(settings.redis_url, announcements.NAME)
    return None if settings.database_terms.pooled else PostgresqlChannel(services.database)
