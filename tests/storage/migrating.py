"""`duograph migrate` in a process of its own, and the PostgreSQL database that it migrates."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from storage.engine.database import Database
from storage.migrations import run
from tests.support.commands.command import Command, Process
from tests.support.databases.own_databases import create_database, named


@dataclass(frozen=True)
class Old:
    """A database at an old revision, and a command on it. `url` is SQLAlchemy's, past any pooler."""

    url: str
    command: Command

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[asyncpg.Connection]:
        connection = await asyncpg.connect(self.url.replace("+asyncpg", ""))
        try:
            yield connection
        finally:
            await connection.close()


async def make_old(revision: str | None, folder: Path, server_url: str, used_url: str) -> Old:
    """A database at this revision, or empty. The command reaches it at `used_url`, maybe through a pooler."""
    name = await create_database(server_url)
    url, used = named(server_url, name), named(used_url, name)
    if revision is not None:
        database = Database(url)
        await run.upgrade(database, revision)
        await database.close()
    return Old(url, Command(folder, {"DUOGRAPH_DATABASE_URL": used}))


class Migrating:
    """A run of `duograph migrate`; `lines` is what it has said on standard error so far."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.lines: list[str] = []

    async def says(self, beginning: str) -> str:
        """The next line that begins so."""
        assert self._process.stderr is not None
        while line := await asyncio.to_thread(self._process.stderr.readline):
            self.lines.append(line.strip())
            if self.lines[-1].startswith(beginning):
                return self.lines[-1]
        raise AssertionError(f"It ended without {beginning!r}: {self.lines}")

    async def ends(self) -> str:
        """Wait for its end, which must be a success; what it printed."""
        out, error = await asyncio.to_thread(self._process.communicate)
        self.lines += error.splitlines()
        assert self._process.returncode == 0, self.lines
        return out.strip()

    async def kill(self) -> None:
        self._process.kill()
        assert await asyncio.to_thread(self._process.wait) == -signal.SIGKILL

    @property
    def pid(self) -> int:
        return self._process.pid


@asynccontextmanager
async def migrating(command: Command) -> AsyncIterator[Migrating]:
    """A run that has begun; it is killed at the end of the block if it has not ended."""
    with command.start("migrate", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield Migrating(process)
        finally:
            process.kill()
