"""Serving: bind the port, prepare the database, run the processes and print their address."""

import gc
import shlex
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
import uvicorn

from gateway.app import create_app
from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.demo import Entry, enter_demo
from gateway.cli.output import CommandError, show
from gateway.cli.warnings import warnings_of
from gateway.cli.workers import STOPS, Workers
from gateway.http.connections import copies_of, patient_protocol
from gateway.logs import configure_logs, take_over_process
from gateway.settings.logs import LogFormat
from gateway.settings.server import Environment
from gateway.settings.settings import Settings
from resolvers.graph.endpoint import GRAPHQL_PATH
from rest_compat.paths import PREFIX

log = structlog.get_logger()

SECONDS_TO_FINISH = 30
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}  # noqa: S104

Announce = Callable[[], None]


def serve(host: str, port: int, workers: int, *, demo: bool, as_json: bool) -> None:
    """Serve until stopped by a signal. Raises `CommandError` if the gateway cannot start."""
    listener = _bind(host, port)
    origin = f"http://{_address_of(host)}:{listener.getsockname()[1]}"
    json_logs = {"log_format": LogFormat.JSON} if as_json else {}
    settings = read_settings(base_url=origin + PREFIX, **json_logs)
    configure_logs(settings.log_format, settings.log_level)
    entry = wait_for(_prepare(settings, demo=demo))
    for about, sentence in warnings_of(settings, workers):
        log.warning(sentence, about=about)
    announcement = Announcement(origin, settings, entry)
    _run(settings, listener, workers, partial(announcement.show, as_json=as_json))


@dataclass(frozen=True)
class Announcement:
    """Printed once the gateway answers; `demo` has the credentials of its workspace."""

    origin: str
    settings: Settings
    demo: Entry | None

    def show(self, *, as_json: bool) -> None:
        result: dict[str, Any] = {
            "url": self.origin,
            "base_url": self.settings.base_url,
            "graphql_url": self._graphql_url,
            "demo": None,
        }
        lines = [
            f"Duograph is running at {self.origin}: REST at {self.settings.base_url} (reference at /docs), "
            f"GraphQL at {self._graphql_url}."
        ]
        if self.demo is not None:
            token = self.demo.workspace_token
            commands = self._commands(token)
            user = {"email": self.demo.email, "password": self.demo.password} if self.demo.password else None
            result["demo"] = {"workspace_token": token, "commands": commands, "user": user}
            lines += [
                "",
                "A token for the workspace demo, for 30 days:",
                token,
                "",
                "Try it:",
                *commands,
            ]
            if user is not None:
                address = f"{self.settings.sign_in_url}/sign-in"
                lines += ["", f"Sign in at {address} as {user['email']} with {user['password']}"]
        show(result, "\n".join(lines), as_json=as_json)

    @property
    def _graphql_url(self) -> str:
        return self.settings.sign_in_url + GRAPHQL_PATH

    def _commands(self, token: str) -> list[str]:
        credential = ["-H", f"Authorization: Bearer {token}"]
        query = '{"query": "{ shares(limit: 3) { data { id name prices { amountType priceAmount } } } }"}'
        body = ["-H", "Content-Type: application/json", "-d", query]
        return [
            shlex.join(["curl", "-s", f"{self.settings.base_url}/shares/?limit=3", *credential]),
            shlex.join(["curl", "-s", self._graphql_url, *credential, *body]),
        ]


class AnnouncingServer(uvicorn.Server):
    """A server in this process."""

    def __init__(self, config: uvicorn.Config, announce: Announce) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


async def _prepare(settings: Settings, *, demo: bool) -> Entry | None:
    """Check the database, and with `demo` create credentials for the demo workspace."""
    if demo and settings.env == Environment.PRODUCTION:
        raise CommandError("--demo is only for development: leave it out, or unset DUOGRAPH_ENV.")
    async with migrated(settings, migrate_sqlite=True) as database:
        return await enter_demo(settings, database) if demo else None


def _run(settings: Settings, listener: socket.socket, workers: int, announce: Announce) -> None:
    app = create_app(settings)
    take_over_process()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        lifespan="on",
        ws="none",
        http=patient_protocol(settings.stall_seconds),
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    # What has been built lives as long as the process: collections need not look at it, and forked processes
    # share it.
    gc.freeze()
    if workers > 1:
        served = Workers(config, listener, workers, announce).run()
    else:
        served = _run_one(config, listener, announce)
    if not served:
        raise CommandError("The gateway could not start: see the log above.")


def _run_one(config: uvicorn.Config, listener: socket.socket, announce: Announce) -> bool:
    """Serve in this process, and return whether it could."""
    server = AnnouncingServer(config, announce)
    # Uvicorn shuts down and then raises the signal again; a requested stop is not a failure.
    for stop in STOPS:
        signal.signal(stop, _ignore)
    server.run(copies_of(listener))
    return server.started


def _bind(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        raise CommandError(
            f"Port {port} of {host} cannot be used ({error.strerror}): free it, or choose another --port."
        ) from None
    listener.set_inheritable(True)
    return listener


def _address_of(host: str) -> str:
    """The host as an address to call: the local machine for a wildcard."""
    return WILDCARDS.get(host) or (f"[{host}]" if ":" in host else host)


def _ignore(*_: object) -> None:
    """Ignores a signal."""
