"""Clients of live updates whose connections are cut: graphql-ws, graphql-sse and a browser's EventSource."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.async_api import Browser

from tests.support.browsers.in_browser import opened, sign_in_unseen
from tests.support.clients.npm import run_node
from tests.support.measures.patience import PATIENCE_SECONDS, TAKES_MINUTES
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve

pytestmark = [TAKES_MINUTES, pytest.mark.long]

ROOT = Path(__file__).parents[2]
CHANGES = 40
CHANGES_BETWEEN_CUTS = 3
FOLLOW = """
([path, count]) => new Promise((done) => {
  const ids = [];
  const source = new EventSource(path);
  source.addEventListener("share.created", (event) => {
    ids.push(JSON.parse(event.data).resource_id);
    if (ids.length === count) {
      source.close();
      done(ids);
    }
  });
})
"""


class Line:
    """A line to an address that can be cut."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._target = (parts.hostname or "", parts.port or 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads = [Thread(target=self._accept)]
        self._threads[0].start()
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
                self._open += [near, far]
                for source, sink in ((near, far), (far, near)):
                    self._threads.append(Thread(target=_pass_on, args=(source, sink)))
                    self._threads[-1].start()

    def cut(self) -> None:
        """Cut all connections; new ones are passed on."""
        while self._open:
            with suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        # Only then does a thread that accepts notice that it is closed.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        self.cut()
        for thread in self._threads:
            thread.join()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65_536):
            sink.sendall(part)
    for each in (source, sink):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
    source.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Line, httpx.Client, Tenant]]:
    with serve(f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite", tmp_path) as (address, tenant):
        headers, line = {"Authorization": f"Bearer {tenant.token}"}, Line(address)
        with httpx.Client(base_url=f"{address}/api", headers=headers, timeout=PATIENCE_SECONDS) as client:
            yield line, client, tenant
        line.close()


@contextmanager
def writing(line: Line, client: httpx.Client, most: int = CHANGES) -> Iterator[list[str]]:
    """The ids of shares that are created meanwhile, while the line is cut now and then."""
    made: list[str] = []
    is_over = Event()

    def write() -> None:
        while not is_over.wait(0.05):
            if len(made) < most:
                share = {"name": "Cut", "prices": [{"amount_type": "free"}]}
                made.append(client.post("/shares/", json=share).json()["id"])
            if len(made) % CHANGES_BETWEEN_CUTS == 0:
                line.cut()

    thread = Thread(target=write)
    thread.start()
    try:
        yield made
    finally:
        is_over.set()
        thread.join()


def test_clients_of_graphql_go_on_after_cuts_without_a_gap(site: tuple[Line, httpx.Client, Tenant]) -> None:
    line, client, tenant = site
    position = client.get("/changes/latest").json()["position"]
    with writing(line, client) as made:
        told = run_node("live.mjs", line.address, tenant.token, position, str(CHANGES))
    followed = {name: ids for name, *ids in (each.split() for each in told.splitlines())}
    assert followed == {"graphql-ws": made, "graphql-sse": made}


def test_the_documented_program_follows_changes(site: tuple[Line, httpx.Client, Tenant]) -> None:
    line, client, tenant = site
    ((program,),) = [re.findall(r"```js\n(.*?)```", (ROOT / "docs/changes.md").read_text(), re.DOTALL)]
    address = str(client.base_url).removesuffix("/api/").replace("http", "ws")
    own = program.replace("wss://api.example.com", address)
    # It goes on for good, which this copy does not.
    own = own.replace("variables.after =", "console.log(data.changes.change.resourceId); process.exit(0); //")
    before = f"""
      import WebSocket from "ws";
      globalThis.WebSocket = WebSocket;
      const token = "{tenant.token}";
    """
    # It begins with what is made once it has begun.
    with writing(line, client, most=10_000) as made:
        told = run_node("--input-type=module", "-e", before + own)
    assert told.strip() in made


async def test_a_browser_goes_on_after_cuts_without_a_gap(
    chromium: Browser, site: tuple[Line, httpx.Client, Tenant]
) -> None:
    line, client, tenant = site
    position = client.get("/changes/latest").json()["position"]
    async with opened(chromium, line.address) as page:
        await sign_in_unseen(page, line.address, tenant)
        await page.goto(f"{line.address}/docs/guide")
        path = f"/api/changes/stream?workspace_id={tenant.id}&after={position}"
        with writing(line, client) as made:
            assert await page.evaluate(FOLLOW, [path, CHANGES]) == made
