"""A gateway on a socket, whose clock the tests move on."""

from collections.abc import Iterator

import pytest
import pytest_asyncio

from tests.changes.streams import STALL_SECONDS, Live
from tests.support.databases.own_databases import own_database
from tests.support.measures.moved_loop import MovedLoop
from tests.support.servers.live import serve


@pytest_asyncio.fixture(scope="module")
async def own_url(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database apart from that of the process's gateway, which stands still while a test waits in it."""
    return await own_database(database_url, tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def live(own_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    clock, folder = MovedLoop(), tmp_path_factory.mktemp("live")
    with serve(own_url, folder, loop_factory=lambda: clock, stall_seconds=STALL_SECONDS) as (
        address,
        tenant,
    ):
        running = Live(address, tenant, clock)
        yield running
        running.client.close()
