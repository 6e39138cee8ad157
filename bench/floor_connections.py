"""Two ways in which the floor uses PostgreSQL: as asyncpg offers it, and tuned."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol, Self

import asyncpg

from bench.floor_statements import Listing

CONNECTIONS = 20
SERVER_SETTINGS = {"jit": "off", "max_parallel_workers_per_gather": "0", "timezone": "UTC"}

# The rows of a page, and the total of the list.
Page = tuple[Sequence[Any], int]


class Connection:
    """A connection of asyncpg, which keeps its last statements prepared."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self.connection = connection

    async def fetch(self, statement: str, *values: Any) -> Sequence[Any]:
        rows: Sequence[Any] = await self.connection.fetch(statement, *values)
        return rows

    def transaction(self) -> Any:
        return self.connection.transaction()

    async def page(self, listing: Listing, workspace_id: Any, limit: int) -> Page:
        """By a statement for the rows and one for the total."""
        rows = await self.fetch(listing.rows, workspace_id, limit)
        return rows, (await self.fetch(listing.total, workspace_id))[0][0]


class Connections(Protocol):
    """Open connections, of which each request takes one."""

    @classmethod
    async def open(cls, address: str) -> Self: ...

    async def take(self) -> Connection: ...

    async def give_back(self, connection: Any) -> None: ...

    async def close(self) -> None: ...


class Pool:
    """asyncpg's own pool. Requests leave nothing in a connection to be reset."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    @classmethod
    async def open(cls, address: str) -> Self:
        pool = asyncpg.create_pool(
            address,
            min_size=CONNECTIONS,
            max_size=CONNECTIONS,
            reset=_keep_as_it_is,
            server_settings=SERVER_SETTINGS,
        )
        return cls(await pool)

    async def take(self) -> Connection:
        return Connection(await self._pool.acquire())

    async def give_back(self, connection: Connection) -> None:
        await self._pool.release(connection.connection)

    async def close(self) -> None:
        await self._pool.close()


async def _keep_as_it_is(_: asyncpg.Connection) -> None:
    pass


class TunedConnection(Connection):
    """A connection that never prepares a statement twice."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        super().__init__(connection)
        self._prepared: dict[str, Any] = {}

    async def fetch(self, statement: str, *values: Any) -> Sequence[Any]:
        prepared = self._prepared.get(statement) or await self._prepare(statement)
        rows: Sequence[Any] = await prepared.fetch(*values)
        return rows

    async def _prepare(self, statement: str) -> Any:
        prepared = self._prepared[statement] = await self.connection.prepare(statement)
        return prepared

    async def page(self, listing: Listing, workspace_id: Any, limit: int) -> Page:
        """By one statement: each row repeats the total."""
        rows = await self.fetch(listing.rows_with_total, workspace_id, limit)
        return rows, rows[0]["total"] if rows else 0


class Stack:
    """Held connections, the last used first; requests that find none wait in turn."""

    def __init__(self, connections: Sequence[TunedConnection]) -> None:
        self._all = connections
        self._idle = list(connections)
        self._waiting: deque[asyncio.Future[TunedConnection]] = deque()

    @classmethod
    async def open(cls, address: str) -> Self:
        connections = [
            await asyncpg.connect(address, server_settings=SERVER_SETTINGS) for _ in range(CONNECTIONS)
        ]
        return cls([TunedConnection(connection) for connection in connections])

    async def take(self) -> TunedConnection:
        if self._idle:
            return self._idle.pop()
        waiter: asyncio.Future[TunedConnection] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        return await waiter

    async def give_back(self, connection: TunedConnection) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return
        self._idle.append(connection)

    async def close(self) -> None:
        for each in self._all:
            await each.connection.close()
