"""What clients use of the API: gathered in memory by one increment for a request, and written in batches."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Select, select

from storage.clock import now
from storage.dialects.upsert import Upsert, upsert
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.enums import ClientKind, UsageKind, UsageSurface
from storage.rows.rows import table_of
from storage.tables.base import Values
from storage.tables.credentials.usage import UsageRow
from storage.tables.workspaces.workspaces import WorkspaceRow

# The names that are gathered until they are written: beyond it, what was not used before is not counted.
MOST_GATHERED = 100_000
# Of one workspace on one day; further clients are counted as one.
MOST_CLIENTS = 100
# Whose clients are remembered until the day ends.
MOST_WORKSPACES = 1_000
ROWS_AT_A_TIME = 1_000

_table, _workspaces = table_of(UsageRow), table_of(WorkspaceRow)
_key = (
    *(_table.c.workspace_id, _table.c.day, _table.c.client_kind),
    *(_table.c.client_id, _table.c.surface, _table.c.name),
)


class Part(NamedTuple):
    """A part of the contract by its coordinate, like `Share.name` or `GET /api/shares/?limit`."""

    kind: UsageKind
    name: str
    is_deprecated: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Used:
    """The parts of one surface that a request uses; requests that use the same ones share it."""

    surface: UsageSurface
    parts: Sequence[Part]


class Client(NamedTuple):
    """A client of a workspace: an OAuth client, a token, or all sessions of customers."""

    workspace_id: UUID
    kind: ClientKind
    id: UUID

    @property
    def key(self) -> str:
        """The client as a text, whose hash Python keeps."""
        return f"{self.workspace_id} {self.kind.value} {self.id}"

    @classmethod
    def of(cls, key: str) -> "Client":
        workspace_id, kind, id = key.split()
        return cls(UUID(workspace_id), ClientKind(kind), UUID(id))


# A client, a surface, and a part of its contract.
Place = tuple[str, UsageSurface, Part]


class Usage:
    """What the clients of one process used since it was last written."""

    def __init__(self) -> None:
        self._gathered: dict[tuple[str, Used], int] = {}
        self._number_of_parts = 0
        self._unwritten: dict[Place, int] = {}
        self._writing = asyncio.Lock()
        self._day: date | None = None
        # Those that are counted on that day, by workspace.
        self._clients: dict[UUID, set[Client]] = {}

    def add(self, client: str | None, used: Used | None) -> None:
        """Count a request of the client with this key; None is no client, or nothing that can be counted."""
        if client is None or used is None:
            return
        try:
            self._gathered[client, used] += 1
        except KeyError:
            if self._number_of_parts < MOST_GATHERED:
                self._number_of_parts += len(used.parts)
                self._gathered[client, used] = 1

    async def write(self, database: Database) -> bool:
        """Write what was gathered, in short transactions; what fails is written the next time.

        Returns False: nothing is left to write.
        """
        async with self._writing:
            self._collect()
            while self._unwritten:
                places = list(self._unwritten)[:ROWS_AT_A_TIME]
                async with database.write() as connection:
                    await self._write(connection, places)
                for place in places:
                    del self._unwritten[place]
        return False

    def _collect(self) -> None:
        """Add up what was gathered by part, unless the database has been away for long."""
        if len(self._unwritten) >= MOST_GATHERED:
            return
        gathered, self._gathered, self._number_of_parts = self._gathered, {}, 0
        for (client, used), requests in gathered.items():
            for part in used.parts:
                place = (client, used.surface, part)
                self._unwritten[place] = self._unwritten.get(place, 0) + requests

    async def _write(self, connection: Connection, places: Sequence[Place]) -> None:
        moment = now()
        if self._day != moment.date():
            self._day, self._clients = moment.date(), {}
        rows: dict[tuple[Client, UsageSurface, str], Values] = {}
        for key, surface, part in places:
            client = await self._client(connection, key, moment.date())
            row = rows.setdefault(
                (client, surface, part.name),
                {
                    "workspace_id": client.workspace_id,
                    "day": moment.date(),
                    "client_kind": client.kind.value,
                    "client_id": client.id,
                    "surface": surface.value,
                    "name": part.name,
                    "kind": part.kind.value,
                    "is_deprecated": part.is_deprecated,
                    "requests": 0,
                    "last_used_at": moment,
                },
            )
            row["requests"] += self._unwritten[key, surface, part]
        named = _workspaces.c.id.in_({client[0] for client, *_ in rows})
        living = select(_workspaces.c.id).where(named, _workspaces.c.deleted_at.is_(None))
        ids = set((await connection.execute(living)).scalars())
        # In one order, so that processes do not wait for each other in a circle.
        added = [rows[key] for key in sorted(rows, key=str) if key[0].workspace_id in ids]
        if added:
            await connection.execute(_adding(connection.dialect.name), added)

    async def _client(self, connection: Connection, key: str, day: date) -> Client:
        """The client to count for: beyond `MOST_CLIENTS` on a day, all others of the workspace as one."""
        client = Client.of(key)
        clients = self._clients.get(client.workspace_id)
        if clients is None:
            rows = await connection.execute(_clients_of(client.workspace_id, day))
            clients = {Client(client.workspace_id, ClientKind(kind), id) for kind, id in rows}
            if len(self._clients) >= MOST_WORKSPACES:
                self._clients.clear()
            self._clients[client.workspace_id] = clients
        if client not in clients:
            if len(clients) >= MOST_CLIENTS:
                return Client(client.workspace_id, ClientKind.OTHERS, client.workspace_id)
            clients.add(client)
        return client


def _adding(dialect: str) -> Upsert:
    insert = upsert(dialect, _table)
    sent = insert.excluded
    return insert.on_conflict_do_update(
        index_elements=list(_key),
        set_={
            "requests": _table.c.requests + sent.requests,
            "last_used_at": sent.last_used_at,
            "is_deprecated": sent.is_deprecated,
        },
    )


def _clients_of(workspace_id: UUID, day: date) -> Select[str, UUID]:
    """The workspace's clients that have rows of that day."""
    is_own = (_table.c.workspace_id == workspace_id) & (_table.c.day == day)
    clients = select(_table.c.client_kind, _table.c.client_id).distinct()
    return clients.where(is_own, _table.c.client_kind != ClientKind.OTHERS.value).limit(MOST_CLIENTS)
