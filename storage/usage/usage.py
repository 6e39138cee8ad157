"""What clients use of the API: gathered in memory by one increment for a request, and written in batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Select, select

from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import ClientKind, UsageKind, UsageSurface
from storage.ledger.books import Combination
from storage.ledger.memory import CountsInMemory
from storage.ledger.totals import Totals
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

_table, _workspaces = table_of(UsageRow), table_of(WorkspaceRow)
_LATEST = dict.fromkeys(("kind", "is_deprecated", "last_used_at"), Combination.LATEST)
COUNTS = Totals(_table, _LATEST)


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


class Usage(CountsInMemory[Place, int]):
    """What the clients of one process used since it was last written."""

    def __init__(self) -> None:
        super().__init__(MOST_GATHERED)
        self._gathered: dict[tuple[str, Used], int] = {}
        self._number_of_parts = 0
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

    def _collect(self) -> None:
        """Add up what was gathered by part."""
        gathered, self._gathered, self._number_of_parts = self._gathered, {}, 0
        for (client, used), requests in gathered.items():
            for part in used.parts:
                place = (client, used.surface, part)
                self._unwritten[place] = self._unwritten.get(place, 0) + requests

    def _workspace_of(self, key: Place) -> UUID:
        return Client.of(key[0]).workspace_id

    async def _write(self, connection: Connection, counts: Mapping[Place, int]) -> None:
        moment = now()
        if self._day != moment.date():
            self._day, self._clients = moment.date(), {}
        rows: list[Values] = []
        for (key, surface, part), requests in counts.items():
            client = await self._client(connection, key, moment.date())
            rows.append(
                {
                    "workspace_id": client.workspace_id,
                    "day": moment.date(),
                    "client_kind": client.kind.value,
                    "client_id": client.id,
                    "surface": surface.value,
                    "name": part.name,
                    "kind": part.kind.value,
                    "is_deprecated": part.is_deprecated,
                    "requests": requests,
                    "last_used_at": moment,
                }
            )
        named = _workspaces.c.id.in_({row["workspace_id"] for row in rows})
        living = select(_workspaces.c.id).where(named, _workspaces.c.deleted_at.is_(None))
        ids = set((await connection.execute(living)).scalars())
        added = [row for row in rows if row["workspace_id"] in ids]
        # In one order, so that processes do not wait for each other in a circle.
        added.sort(key=lambda row: [str(row[name]) for name in COUNTS.keys])
        await COUNTS.add_rows(connection, added)

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


def _clients_of(workspace_id: UUID, day: date) -> Select[str, UUID]:
    """The workspace's clients that have rows of that day."""
    is_own = (_table.c.workspace_id == workspace_id) & (_table.c.day == day)
    clients = select(_table.c.client_kind, _table.c.client_id).distinct()
    return clients.where(is_own, _table.c.client_kind != ClientKind.OTHERS.value).limit(MOST_CLIENTS)
