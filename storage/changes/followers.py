"""Who follows change logs in this process: commits wake them, and what is learned of other processes."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping
from contextlib import suppress
from itertools import count
from typing import TypeVar
from uuid import UUID

from sqlalchemy import func, select

from storage.changes.shared_reads import SharedReads
from storage.dialects.matching import among
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.tables.base import table_of
from storage.tables.changes import ChangeRow
from storage.tables.workspaces.workspaces import WorkspaceRow

Result = TypeVar("Result")

# Open streams: of one subject, and of the process.
MOST_OF_ONE, MOST_OF_ALL = 10, 5_000
SECONDS_BETWEEN_LOOKS = 1
WORKSPACES_AT_A_TIME = 500

_workspaces, _changes = table_of(WorkspaceRow), table_of(ChangeRow)
_newest = (
    select(func.max(_changes.c.position)).where(_changes.c.workspace_id == _workspaces.c.id).scalar_subquery()
)
_NEWEST = Kept(select(_workspaces.c.id, _newest).where(among(_workspaces.c.id, "ids")))


class Full(Exception):
    """No further stream fits: `of_one` if the subject has too many, otherwise the process has."""

    def __init__(self, *, of_one: bool) -> None:
        super().__init__(of_one)
        self.of_one = of_one


class Follower:
    """One reader of the log of `workspace_id`; `position` is how far it has read. Close it at its end."""

    __slots__ = ("_followers", "_woken", "has_ended", "position", "subject", "workspace_id")

    def __init__(self, followers: "Followers", subject: str, workspace_id: UUID) -> None:
        self._followers = followers
        self._woken = asyncio.Event()
        self.subject, self.workspace_id = subject, workspace_id
        self.position = 0
        self.has_ended = False

    def wake(self) -> None:
        """Have it read on."""
        self._woken.set()

    def end(self) -> None:
        """Have it end: its client has gone, or the process stops."""
        self.has_ended = True
        self._woken.set()

    def is_woken(self) -> bool:
        """Whether it was woken since this was last asked."""
        woken = self._woken.is_set()
        self._woken.clear()
        return woken

    async def rest(self, seconds: float) -> None:
        """Wait until it is woken, at most so long."""
        # Not `wait_for`, which in Python 3.11 loses a cancellation that arrives together with the wake-up.
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    def close(self) -> None:
        """Give its place to another one. A second call does nothing."""
        self._followers.remove(self)


class Followers:
    """The followers of one process, by workspace."""

    def __init__(self) -> None:
        self._of_workspace: dict[UUID, set[Follower]] = {}
        self._reads, self._wakes = SharedReads(), count()
        # The number of the last wake of each workspace.
        self._woken: dict[UUID, int] = {}
        self._of_subject: Counter[str] = Counter()
        self._have_ended = False
        # Tells other processes what this one committed, and that there is somebody who waits for theirs.
        self.announce: Callable[[Collection[UUID]], None] = _ignore
        self.has_come: Callable[[], None] = lambda: None

    @property
    def has_any(self) -> bool:
        """Whether anybody follows a log here."""
        return bool(self._of_workspace)

    def add(self, subject: str, workspace_id: UUID) -> Follower:
        """A new follower, whose place is taken until it is closed. Raises `Full`."""
        if self._of_subject[subject] >= MOST_OF_ONE:
            raise Full(of_one=True)
        if self._of_subject.total() >= MOST_OF_ALL:
            raise Full(of_one=False)
        follower = Follower(self, subject, workspace_id)
        follower.has_ended = self._have_ended
        self._of_workspace.setdefault(workspace_id, set()).add(follower)
        self._woken.setdefault(workspace_id, next(self._wakes))
        self._of_subject[subject] += 1
        self.has_come()
        return follower

    def remove(self, follower: Follower) -> None:
        """Forget a follower, if it is still known."""
        own = self._of_workspace.get(follower.workspace_id, set())
        if follower not in own:
            return
        own.remove(follower)
        if not own:
            del self._of_workspace[follower.workspace_id], self._woken[follower.workspace_id]
        self._of_subject[follower.subject] -= 1
        self._of_subject += Counter()  # Without those that have none.

    def wake(self, workspace_ids: Collection[UUID]) -> None:
        """Changes of these workspaces were committed by this process."""
        self.wake_own(workspace_ids)
        self.announce(workspace_ids)

    def wake_own(self, workspace_ids: Collection[UUID]) -> None:
        """Changes of these workspaces were committed somewhere."""
        if self._of_workspace:
            for workspace_id in workspace_ids:
                self._wake_those(workspace_id, self._of_workspace.get(workspace_id, ()))

    async def read_once(
        self, workspace_id: UUID, key: Hashable, work: Callable[[], Awaitable[Result]]
    ) -> Result:
        """What `work` reads of a workspace, shared by the followers who ask for it after the same wake.

        A read that began after a wake has all that was committed before it.
        """
        return await self._reads.read((workspace_id, self._woken.get(workspace_id), key), work)

    def end(self) -> None:
        """End all, and those that come: they read what is there, and no more."""
        self._have_ended = True
        for own in self._of_workspace.values():
            for follower in own:
                follower.end()

    async def look(self, database: Database) -> bool:
        """Wake those whose log has grown by another process; returns False, as there is never more to do."""
        ids = list(self._of_workspace)
        for start in range(0, len(ids), WORKSPACES_AT_A_TIME):
            self._note(await _newest_positions(database, ids[start : start + WORKSPACES_AT_A_TIME]))
        return False

    def _note(self, newest: Mapping[UUID, int | None]) -> None:
        """Also a workspace that is gone wakes: its followers find out, and end."""
        for workspace_id, position in newest.items():
            own = self._of_workspace.get(workspace_id, ())
            behind = [each for each in own if position is None or position > each.position]
            self._wake_those(workspace_id, behind)

    def _wake_those(self, workspace_id: UUID, followers: Collection[Follower]) -> None:
        if followers:
            self._woken[workspace_id] = next(self._wakes)
            for follower in followers:
                follower.wake()


def _ignore(workspace_ids: Collection[UUID]) -> None:
    """There are no other processes."""


async def _newest_positions(database: Database, ids: Collection[UUID]) -> dict[UUID, int | None]:
    rows = await database.fetch(_NEWEST, {"ids": list(ids)})
    return dict(database.converted(_NEWEST, rows))
