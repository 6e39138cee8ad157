"""The background task that counts all totals again after an upgrade.

A process of an older version writes rows beside a newer revision without counting them in the totals that
this has added. The revision notes that (`online.count_again`), and once no such process is connected, one
process of the newer version compares each workspace with its rows and corrects it.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

from sqlalchemy import bindparam, delete, func, or_, select, text, update

from storage.clock import now
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.statements.kept import Kept
from storage.ledger.checking import rebuild, verify
from storage.tables.base import table_of
from storage.tables.workspaces.recounts import RecountRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from storage.totals.events import EVENTS
from storage.totals.lists import LISTS

SECONDS_BETWEEN_LOOKS = 60
# Between two workspaces, of which a small one takes some milliseconds.
PAUSE_SECONDS = 0.05
# An unnamed connection may also be somebody's own program, which does not end.
MOST_WAITING = timedelta(hours=1)
# A process that has not finished a workspace after this long has ended.
GIVEN_UP_AFTER = timedelta(minutes=10)
TOTALS = (LISTS, EVENTS)

_recounts, _workspaces = table_of(RecountRow), table_of(WorkspaceRow)
_RECOUNT = Kept(select(_recounts.c.revision, _recounts.c.begun_at, _recounts.c.last))
_PRESENT = (
    _workspaces.c.deleted_at.is_(None),
    _workspaces.c.id > bindparam("last", type_=_workspaces.c.id.type),
)
_NEXT = select(_workspaces.c.id).where(*_PRESENT).order_by(_workspaces.c.id).limit(1)
_LEFT = select(func.count()).select_from(_workspaces).where(*_PRESENT)
# Connections of processes from before they had names, and of those with the name of an older revision.
_OLDER = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user "
    "AND backend_type = 'client backend' AND (application_name = '' "
    "OR application_name ~ '^duograph [0-9]+$' AND application_name < :name)"
)


@dataclass(frozen=True)
class Recount:
    """What is left to count again: `workspaces`, once `older` connections of older processes have ended."""

    workspaces: int
    older: int


async def read_recount(database: Database) -> Recount | None:
    """What is left to count again; None if everything is counted."""
    async with database.read() as connection:
        row = (await connection.execute(select(_recounts))).one_or_none()
        if row is None:
            return None
        left = (await connection.execute(_LEFT, {"last": row.last})).scalar_one()
        return Recount(left, await _older(connection, row.revision))


def name_of(revision: str) -> str:
    """The name that processes whose newest revision is this one give to their connections."""
    return f"duograph {revision}"


@dataclass
class Recounting:
    """Counts one database again, a workspace at a time. One process does so, until it ends.

    `sees_processes`: the connections of older processes are in the server's list. Behind a pooler they are
    only while they work, so `MOST_WAITING` is what ends the wait.
    """

    database: Database
    sees_processes: bool = True
    maker: UUID = field(default_factory=uuid4)

    async def run(self) -> bool:
        """Count the next workspace. Returns False if none is left, or it is not this process's turn."""
        for revision, begun_at, last in self.database.converted(
            _RECOUNT, await self.database.fetch(_RECOUNT, {})
        ):
            if not await self._claim(revision, wait=now() - begun_at < MOST_WAITING):
                return False
            return await self._count_after(revision, last)
        return False

    async def _claim(self, revision: int, *, wait: bool) -> bool:
        given_up = _recounts.c.claimed_at < now() - GIVEN_UP_AFTER
        is_free = or_(_recounts.c.claimed_at.is_(None), _recounts.c.maker == self.maker, given_up)
        claim = update(_recounts).where(_recounts.c.revision == revision, is_free)
        async with self.database.write() as connection:
            if wait and (not self.sees_processes or await _older(connection, revision)):
                return False
            claimed = await connection.execute(claim.values(maker=self.maker, claimed_at=now()))
            return claimed.rowcount == 1

    async def _count_after(self, revision: int, last: UUID) -> bool:
        async with self.database.read() as connection:
            workspace_id = (await connection.execute(_NEXT, {"last": last})).scalar()
        mine = _recounts.c.revision == revision, _recounts.c.maker == self.maker
        if workspace_id is not None and (await verify(self.database, workspace_id, TOTALS)).differences:
            await rebuild(self.database, workspace_id, TOTALS)
        done = delete(_recounts) if workspace_id is None else update(_recounts).values(last=workspace_id)
        async with self.database.write() as connection:
            await connection.execute(done.where(*mine))
        await asyncio.sleep(PAUSE_SECONDS)
        return workspace_id is not None


async def _older(connection: Connection, revision: int) -> int:
    """How many connections older processes have; SQLite does not know, and has no need to wait."""
    if connection.dialect.name == "sqlite":
        return 0
    name = name_of(f"{revision:04}")
    return int((await connection.execute(_OLDER, {"name": name})).scalar_one())
