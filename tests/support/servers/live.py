"""A gateway behind a real socket, in a thread with a loop of its own."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import uvicorn

from gateway.app import create_app
from gateway.cli.serving.freed_memory import give_back_large_pieces
from gateway.http.connections import patient_protocol
from gateway.http.sockets import socket_options
from gateway.http.unsent_answers import MEBIBYTE
from gateway.settings.settings import Settings
from tests.support.databases.own_databases import migrate
from tests.support.servers.gateways import SECRET, Gateway, Tenant, make_tenant
from tests.support.servers.report_keys import serve_keys


@contextmanager
def serve(
    database_url: str,
    objects: Path,
    host: str = "127.0.0.1",
    workspace: Mapping[str, Any] = MappingProxyType({}),
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
    **settings: Any,
) -> Iterator[tuple[str, Tenant]]:
    """The address of a running gateway and a tenant of it, with these values of its workspace.

    `host` is the gateway's name on this machine, `loop_factory` makes the loop on which it runs.
    """
    with serve_keys() as keys:
        settings["secret_scanning_keys_url"] = keys.url
        yield from _serve(database_url, objects, host, workspace, loop_factory, settings)


def _serve(
    database_url: str,
    objects: Path,
    host: str,
    workspace: Mapping[str, Any],
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None,
    settings: dict[str, Any],
) -> Iterator[tuple[str, Tenant]]:
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://{host}:{listener.getsockname()[1]}"
    made_settings = Settings(
        **{
            "database_url": database_url,
            "object_store": str(objects),
            "outbox": str(objects / "outbox"),
            "secret_key": SECRET,
            "base_url": f"{address}/api",
            "rate_limit": 0,
            "rate_limit_restricted": 0,
            "rate_limit_milliseconds": 0,
            "access_log": False,
            **settings,
        }
    )
    give_back_large_pieces()
    app = create_app(made_settings)
    protocol = patient_protocol(made_settings.stall_seconds, made_settings.unsent_mebibytes * MEBIBYTE)
    options = socket_options(made_settings.stall_seconds)
    config = uvicorn.Config(app, log_level="error", proxy_headers=False, http=protocol, **options)
    server = uvicorn.Server(config)
    made: list[Tenant] = []

    async def run() -> None:
        database = app.state.services.database
        await migrate(database)
        gateway = Gateway(app, None, database, objects / "outbox")  # type: ignore[arg-type]
        made.append(await make_tenant(gateway, **workspace))
        await server.serve(sockets=[listener])

    def run_to_its_end() -> None:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(run())

    thread = threading.Thread(target=run_to_its_end, name="gateway", daemon=True)
    thread.start()
    while not server.started:
        thread.join(timeout=0.02)
        if not thread.is_alive():
            raise RuntimeError("The gateway did not start.")
    yield address, made[0]
    server.should_exit = True
    thread.join()
