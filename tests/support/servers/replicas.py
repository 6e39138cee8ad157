"""A PostgreSQL server with a streaming replica, whose replay and connections a test holds up."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.measures.patience import until
from tests.support.servers.gateways import Gateway, Tenant
from tests.support.servers.ports import own_port
from tests.support.servers.postgresql import PostgreSQL
from tests.support.servers.tcp_proxy import TcpProxy


@dataclass(frozen=True)
class Pair:
    """Two servers. The gateway reaches the replica through the `proxy`, at `read_url`."""

    primary: PostgreSQL
    replica: PostgreSQL
    proxy: TcpProxy

    @property
    def read_url(self) -> str:
        return self.replica.url.replace(f":{self.replica.port}/", f":{self.proxy.port}/")

    @classmethod
    @asynccontextmanager
    async def running(cls) -> AsyncIterator["Pair"]:
        # Not below pytest's own folder, which another run closes to PostgreSQL's user.
        with TemporaryDirectory(prefix="pair-") as folder:
            primary, replica = (_server_in(Path(folder) / name) for name in ("primary", "replica"))
            try:
                await asyncio.to_thread(primary.create)
                await asyncio.to_thread(primary.start)
                await asyncio.to_thread(primary.copy_to, replica)
                await asyncio.to_thread(replica.start)
                async with TcpProxy.before(replica.port) as proxy:
                    yield cls(primary, replica, proxy)
            finally:
                replica.kill()
                primary.kill()

    @asynccontextmanager
    async def lagging(self) -> AsyncIterator[None]:
        """Until the block ends, the replica receives changes and shows none of them."""
        await asyncio.to_thread(self.replica.psql, "SELECT pg_wal_replay_pause()")
        try:
            await until(self._is_paused)
            yield
        finally:
            await asyncio.to_thread(self.replica.psql, "SELECT pg_wal_replay_resume()")

    @contextmanager
    def canceling_reads(self) -> Iterator[None]:
        """Until the block ends, the replica cancels reads that hold up its replay at once."""
        self._change("SET max_standby_streaming_delay = 0")
        try:
            yield
        finally:
            self._change("RESET max_standby_streaming_delay")

    def _change(self, setting: str) -> None:
        self.replica.psql(f"ALTER SYSTEM {setting}")
        self.replica.psql("SELECT pg_reload_conf()")

    async def rename_events(self, tenant: Tenant, name: str) -> None:
        """Rename a workspace's events as another host does, of which the gateway knows nothing."""
        statement = f"UPDATE events SET name = '{name}' WHERE workspace_id = '{tenant.id}'"
        await asyncio.to_thread(self.primary.psql, statement)

    async def _is_paused(self) -> bool:
        state = await asyncio.to_thread(self.replica.psql, "SELECT pg_get_wal_replay_pause_state()")
        return state.strip() == "paused"

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """Until the block ends, the replica's server does not run, as after a crash."""
        await asyncio.to_thread(self.replica.stop, "immediate")
        try:
            yield
        finally:
            await asyncio.to_thread(self.replica.start)


async def until_it_is(state: str, gateway: Gateway) -> None:
    """Wait until the gateway is ready and says that it uses its replica like this.

    It is not ready for as long as its own database takes too long to answer, as on a busy machine.
    """

    async def is_in_state() -> bool:
        ready = await gateway.client.get("/ready")
        return ready.status_code == 200 and ready.json()["replica"] == state

    await until(is_in_state)


def _server_in(folder: Path) -> PostgreSQL:
    folder.mkdir()
    return PostgreSQL(folder, own_port())
