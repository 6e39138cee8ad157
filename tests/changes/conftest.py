"""A gateway on a socket, whose clock the tests move on."""

from collections.abc import Iterator

import pytest

from tests.changes.streams import STALL_SECONDS, Live
from tests.support.measures.moved_loop import MovedLoop
from tests.support.servers.live import serve


@pytest.fixture(scope="module")
def live(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    clock, folder = MovedLoop(), tmp_path_factory.mktemp("live")
    with serve(database_url, folder, loop_factory=lambda: clock, stall_seconds=STALL_SECONDS) as (
        address,
        tenant,
    ):
        running = Live(address, tenant, clock)
        yield running
        running.client.close()
