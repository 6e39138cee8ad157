"""Serving: bind the port, prepare the database, run the processes and print their address."""

import gc
import os
import resource
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from ipaddress import ip_address

import structlog
import uvicorn

from gateway.app import Gateway, create_app
from gateway.cli.demo.demo import SLUG
from gateway.cli.demo.entry import Entry, enter_demo
from gateway.cli.kit.database import about_move, migrated, read_settings, wait_for
from gateway.cli.kit.output import CommandError
from gateway.cli.serving.announcement import Announcement
from gateway.cli.serving.freed_memory import give_back_large_pieces
from gateway.cli.serving.workers import STOPS, Workers
from gateway.cli.upkeep.warnings import warnings_of
from gateway.http.accepting import copies_of
from gateway.http.connections import patient_protocol
from gateway.http.sockets import socket_options
from gateway.http.unsent_answers import MEBIBYTE
from gateway.logs.logs import configure_logs, take_over_process
from gateway.settings.logs import LogFormat
from gateway.settings.server import Environment
from gateway.settings.settings import Settings
from gateway.web.entrance.demo import DemoEntrance
from rest_compat.routing.paths import PREFIX
from storage.copies.marks import State, read_mark

log = structlog.get_logger()

SECONDS_TO_FINISH = 30
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}  # noqa: S104

# The first socket that a process manager hands over, as systemd does: sd_listen_fds(3).
FIRST_INHERITED = 3

Announce = Callable[[], None]


def serve(host: str, port: int, workers: int, *, demo: bool, as_json: bool) -> None:
    """Serve until stopped by a signal. Raises `CommandError` if the gateway cannot start.

    A socket that the process manager has bound is used instead of `host` and `port`.
    """
    # The memory of a process that crashes has the secret key and requests in it: no file gets them.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    inherited = _inherited()
    listener = inherited or _bind(host, port)
    reached_at = inherited.getsockname()[0] if inherited else host
    bound_port = listener.getsockname()[1]
    origin = f"http://{_address_of(reached_at)}:{bound_port}"
    json_logs = {"log_format": LogFormat.JSON} if as_json else {}
    settings = read_settings(base_url=origin + PREFIX, **json_logs)
    if settings.metrics_port == bound_port:
        # Linux would let both be bound, and metrics would be all that is served.
        raise CommandError(f"Port {bound_port} serves the API: choose another DUOGRAPH_METRICS_PORT.")
    configure_logs(settings.log_format, settings.log_level)
    entry = wait_for(_prepare(settings, demo=demo))
    entrance = _entrance(settings, listener, origin, entry)
    for about, sentence in warnings_of(settings, workers):
        log.warning(sentence, about=about)
    announce = partial(Announcement(origin, settings, entry, entrance).show, as_json=as_json)
    _run(_compose(settings, entrance), settings, listener, workers, announce)


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
        mark = await read_mark(database)
        if mark is not None and mark.state is State.MOVED:
            raise CommandError(about_move(mark))
        return await enter_demo(settings, database) if demo else None


def _entrance(
    settings: Settings, listener: socket.socket, origin: str, entry: Entry | None
) -> DemoEntrance | None:
    """The link to the demo, unless other machines reach this server: the link needs no password."""
    is_local = ip_address(listener.getsockname()[0]).is_loopback and settings.sign_in_url == origin
    if entry is None or entry.password is None or not is_local:
        return None
    return DemoEntrance(entry.email, entry.password, SLUG)


def _compose(settings: Settings, entrance: DemoEntrance | None) -> Gateway:
    """The gateway, with the port of its metrics open. Raises `CommandError` or `SettingsError`."""
    app = create_app(settings, entrance)
    try:
        app.monitoring.listen()
    except OSError as error:
        raise CommandError(
            f"Port {settings.metrics_port} of {settings.metrics_address} cannot serve metrics "
            f"({error.strerror}): free it, or change DUOGRAPH_METRICS_PORT or DUOGRAPH_METRICS_ADDRESS."
        ) from None
    return app


def _run(app: Gateway, settings: Settings, listener: socket.socket, workers: int, announce: Announce) -> None:
    take_over_process()
    give_back_large_pieces()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        lifespan="on",
        **socket_options(settings.stall_seconds),
        http=patient_protocol(settings.stall_seconds, settings.unsent_mebibytes * MEBIBYTE),
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    # What has been built lives as long as the process: collections need not look at it, and forked processes
    # share it.
    gc.freeze()
    if workers > 1:
        with app.monitoring.sharing() as shared:
            served = Workers(config, listener, workers, announce, shared=shared).run()
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
    # Uvicorn ends the process itself after a start that failed.
    with suppress(SystemExit):
        server.run(copies_of(listener))
    return server.started


def _inherited() -> socket.socket | None:
    """The socket that the process manager handed over. It keeps connections waiting while a server starts."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return None
    listener = socket.socket(fileno=FIRST_INHERITED)
    is_internet = listener.family in (socket.AF_INET, socket.AF_INET6)
    if os.environ.get("LISTEN_FDS") != "1" or not is_internet or listener.type != socket.SOCK_STREAM:
        raise CommandError(
            "The process manager must hand over one TCP socket: correct the ListenStream of the unit."
        )
    return listener


def _bind(host: str, port: int) -> socket.socket:
    if host == "localhost" and port and _is_taken("::1", port):
        # Browsers look there first.
        raise CommandError(f"Another program answers on port {port} of localhost: choose another --port.")
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


def _is_taken(address: str, port: int) -> bool:
    """Whether a program listens on the port of an IPv6 address of this machine, which may have none."""
    with suppress(OSError), socket.create_connection((address, port), timeout=1):
        return True
    return False


def _address_of(host: str) -> str:
    """The host as an address to call: the local machine for a wildcard."""
    return WILDCARDS.get(host) or (f"[{host}]" if ":" in host else host)


def _ignore(*_: object) -> None:
    """Ignores a signal."""
