"""What processes tell each other: in which workspaces changes were just committed.

Nothing depends on it: who follows a log looks into it once a second anyway, and finds all that there is.
"""

import asyncio
import os
from collections.abc import Callable, Collection
from time import monotonic
from typing import Protocol
from uuid import UUID

from sqlalchemy import bindparam, func, not_, select, text

from storage.changes.followers import Followers
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.statements.kept import Kept

NAME = "duograph_changes"
# Beside many commits, one message names the workspaces of several.
SECONDS_BETWEEN_MESSAGES = 0.02
# After a message that nobody heard, no other is sent for this long. A process that begins to listen in that
# time finds new changes when it looks, once a second.
SECONDS_UNHEARD = 0.25
# PostgreSQL takes messages of 8,000 bytes.
WORKSPACES_IN_A_MESSAGE = 200

# Each process that listens holds this lock in shared mode.
_LOCK = int.from_bytes(b"changes")
_LISTENING = Kept(select(func.pg_advisory_lock_shared(_LOCK)))
# A notification is a transaction of its own, which waits for the disk.
_NOTIFY = Kept(
    select(func.pg_notify(NAME, bindparam("message"))).where(not_(func.pg_try_advisory_xact_lock(_LOCK)))
)
_VERSION = Kept(text("PRAGMA data_version"))

Heard = Callable[[str], None]


class Channel(Protocol):
    """A way to all processes of this database, this one included."""

    @property
    def is_open(self) -> bool:
        """Whether messages are heard."""

    async def open(self, heard: Heard) -> None:
        """Hear messages from now on. Raises an outage, or an error of the driver."""

    async def send(self, message: str) -> bool:
        """Send a message if anybody listens; returns whether somebody does. Raises the same."""

    async def close(self) -> None:
        """Hear nothing more."""


class PostgresqlChannel:
    """LISTEN and NOTIFY. It listens on a connection of its own, which no pooler in transaction mode gives."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None

    @property
    def is_open(self) -> bool:
        return self._connection is not None and not self._connection.is_closed()

    async def open(self, heard: Heard) -> None:
        await self.close()
        self._connection = await self._database.open()
        await self._connection.driver.add_listener(NAME, lambda *told: heard(told[-1]))
        await self._connection.fetch(_LISTENING, {})

    async def send(self, message: str) -> bool:
        # Apart from the transactions that write: those that notify commit one after the other.
        return bool(await self._database.fetch(_NOTIFY, {"message": message}))

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.discard()


class Announcements:
    """Tells the other processes what this one has committed, and wakes its followers for what they have."""

    def __init__(
        self, channel: Channel, followers: Followers, database: Database, wake: Callable[[], None]
    ) -> None:
        self._channel, self._followers, self._database, self._wake = channel, followers, database, wake
        self._own = f"{os.getpid():x}.{os.urandom(4).hex()}"
        self._pending: set[UUID] = set()
        self._sent_at = self._unheard_until = 0.0
        followers.announce = self.note

    def note(self, workspace_ids: Collection[UUID]) -> None:
        """Have the others told that changes of these workspaces were committed, if they listen."""
        if monotonic() >= self._unheard_until:
            self._pending.update(workspace_ids)
            self._wake()

    async def run(self) -> bool:
        """Send what waits, and listen if anybody follows a log here; returns whether more waits."""
        if self._followers.has_any and not self._channel.is_open:
            await self._channel.open(self._hear)
            # What was told before that is in the log.
            await self._followers.look(self._database)
        if self._pending:
            await asyncio.sleep(max(0.0, self._sent_at + SECONDS_BETWEEN_MESSAGES - monotonic()))
            some = [self._pending.pop() for _ in range(min(len(self._pending), WORKSPACES_IN_A_MESSAGE))]
            self._sent_at = monotonic()
            if not await self._channel.send(" ".join([self._own, *(id.hex for id in some)])):
                self._unheard_until = monotonic() + SECONDS_UNHEARD
                self._pending.clear()
        return bool(self._pending)

    def _hear(self, message: str) -> None:
        sender, *ids = message.split(" ")
        if sender != self._own:
            self._followers.wake_own([UUID(id) for id in ids])

    async def close(self) -> None:
        await self._channel.close()


class SqliteWatch:
    """Notices that another connection has committed something, by SQLite's counter of that."""

    def __init__(self, database: Database, followers: Followers) -> None:
        self._database, self._followers = database, followers
        self._version = -1

    async def run(self) -> bool:
        """Wake those whose log has grown, if anything was committed; returns False."""
        if not self._followers.has_any:
            return False
        ((version,),) = await self._database.fetch(_VERSION, {})
        if version != self._version:
            self._version = version
            await self._followers.look(self._database)
        return False
