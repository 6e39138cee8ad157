"""A gateway with two workers on a database of its own, which faults befall."""

import asyncio
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

from storage.engine.database import Database
from storage.migrations.run import upgrade
from tests.support.commands.command import Command, Process
from tests.support.servers.citus import Cluster
from tests.support.servers.gateways import SECRET, Gateway, Tenant, make_tenant
from tests.support.servers.ports import own_port
from tests.support.servers.postgresql import PostgreSQL

WORKERS = 2
PATIENCE_SECONDS = 300


async def until(condition: Callable[[], Any], what: str) -> float:
    """Wait for the condition; the seconds that it took."""
    begun = monotonic()
    while not condition():
        if monotonic() - begun > PATIENCE_SECONDS:
            raise AssertionError(f"{what}: not within {PATIENCE_SECONDS} seconds")
        await asyncio.sleep(0.05)
    return monotonic() - begun


def _is_free(port: int) -> bool:
    with suppress(OSError), socket.create_server(("127.0.0.1", port)):
        return True
    return False


@dataclass
class Site:
    """`database_url` is the database itself; the gateway may be given another way to it in `settings`.

    `cluster` is what the database is spread over, if it is. `program` starts the command `duograph`, if it is
    not what a shell finds.
    """

    folder: Path
    database_url: str
    postgresql: PostgreSQL | None
    settings: dict[str, str] = field(default_factory=dict)
    program: tuple[str, ...] | None = None
    cluster: Cluster | None = None
    port: int = field(default_factory=own_port)
    _process: Process | None = None
    _tenant: Tenant | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def tenant(self) -> Tenant:
        assert self._tenant is not None
        return self._tenant

    @property
    def pid(self) -> int:
        """The id of the gateway's first process, the parent of its workers."""
        assert self._process is not None
        return self._process.pid

    async def prepare(self) -> None:
        """Migrate the database and make a workspace with a token."""
        database = Database(self.database_url)
        try:
            await upgrade(database)
            self._tenant = await make_tenant(Gateway(None, None, database, self.folder))  # type: ignore[arg-type]
        finally:
            await database.close()

    def command(self, **settings: str) -> Command:
        """The command with the gateway's settings, and straight to the database unless they say otherwise."""
        given = {
            "DATABASE_URL": self.database_url,
            "RATE_LIMIT": "0",
            "SECRET_KEY": SECRET,
            "USAGE_SECONDS": "3600",
            **settings,
        }
        return Command(self.folder, {f"DUOGRAPH_{name}": value for name, value in given.items()})

    async def start(self) -> None:
        """Start the gateway, and wait until both workers serve."""
        line = await asyncio.to_thread(self._begin)
        assert line, (self.folder / "log").read_text()[-4000:]
        assert json.loads(line)["url"] == self.address
        await self.all_serve()

    def _begin(self) -> str:
        """Start the process; what it says once it answers."""
        with (self.folder / "log").open("a") as log:
            command = replace(self.command(**self.settings), program=self.program)
            self._process = command.start(
                *("serve", "--host", "127.0.0.1", "--port", str(self.port)),
                *("--workers", str(WORKERS), "--json"),
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    async def all_serve(self) -> None:
        await until(lambda: len(self.workers()) == WORKERS, "both workers run")

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [int(pid) for pid in children]

    async def kill(self) -> None:
        """End all processes of the gateway at once."""
        assert self._process is not None
        # Else it could start a worker while the others are killed one by one.
        os.kill(self.pid, signal.SIGSTOP)
        for pid in [*self.workers(), self.pid]:
            os.kill(pid, signal.SIGKILL)
        self._close(await asyncio.to_thread(self._process.wait))
        # A killed worker that waits for the disk has it still.
        await until(lambda: _is_free(self.port), "the killed gateway has left its port")

    async def stop(self) -> int | None:
        """Stop the gateway as an operator does; its exit status."""
        if self._process is None:
            return None
        self._process.send_signal(signal.SIGTERM)
        try:
            status = await asyncio.to_thread(self._process.wait, PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            await self.kill()
            raise
        self._close(status)
        return status

    def _close(self, _: int) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None

    def failures(self) -> list[str]:
        """The last lines of the stacks of unforeseen errors in the log, each once."""
        found = set()
        for line in (self.folder / "log").read_text().splitlines():
            # A line that was written to a full disk is cut off.
            with suppress(ValueError):
                read = json.loads(line)
                if read.get("event") == "unforeseen":
                    found.add(str(read.get("exception", "")).strip().rpartition("\n")[2][:200])
        return sorted(found)
