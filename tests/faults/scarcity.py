"""Faults of what runs out: space on the disk, connections of the pool."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.faults.beside import Beside, told
from tests.faults.site import until
from tests.faults.stage import POSTGRESQL, Fault, Stage

MIB = 1024 * 1024
SECONDS_FULL = 4
READERS = 4


class FullDisk(Fault):
    """The database is on a small disk of its own, which another file fills up."""

    name = f"the disk is full for {SECONDS_FULL} seconds"

    def impossible(self) -> str | None:
        return None if can_mount() else "only root can mount the small disk that it fills"

    @asynccontextmanager
    async def folder(self) -> AsyncIterator[Path]:
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            mount(Path(folder), 300)
            try:
                yield Path(folder)
            finally:
                unmount(Path(folder))

    async def inject(self, stage: Stage) -> None:
        filler = stage.site.folder / "filler"
        fill(filler)
        await until(lambda: self._unavailable(stage), "a write is answered with 503")
        for _ in range(SECONDS_FULL):
            await asyncio.sleep(1)
            fill(filler)
        filler.unlink()
        if stage.site.postgresql is not None and not stage.postgresql.is_running():
            # Without space for its log PostgreSQL stops; an operator makes space and starts it again.
            await asyncio.to_thread(stage.postgresql.start)

    def _unavailable(self, stage: Stage) -> int:
        fill(stage.site.folder / "filler")
        assert stage.writing is not None
        return stage.writing.record.answers[503]


def mount(folder: Path, size: int) -> None:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}m,mode=755", "tmpfs", str(folder)]
    subprocess.run(command, check=True)


def unmount(folder: Path) -> None:
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def can_mount() -> bool:
    """Whether this process may mount a disk; only root may, and not in every container."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            mount(Path(folder), 1)
        except (OSError, subprocess.CalledProcessError):
            return False
        unmount(Path(folder))
    return True


def fill(file: Path) -> None:
    """Take all the space that is left on the disk of the file, by appending to it."""
    with file.open("ab", buffering=0) as filler:
        for size in (MIB, 4096, 1):
            try:
                while filler.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


class ExhaustedPool(Fault):
    """Two connections for each worker, which wait for a lock longer than requests wait for a connection."""

    name = "a lock keeps all connections of the pool for 35 seconds"
    databases = (POSTGRESQL,)

    async def prepare(self, stage: Stage) -> None:
        stage.site.settings["DATABASE_POOL_SIZE"] = "2"
        self.readers = [Beside(stage) for _ in range(READERS)]
        for reader in self.readers:
            stage.stack.push_async_callback(reader.end)

    async def inject(self, stage: Stage) -> None:
        for reader in self.readers:
            reader.begin(read)
        tables = "customers, events, shares, file_share_sessions"
        statement = f"BEGIN; LOCK TABLE {tables} IN EXCLUSIVE MODE; SELECT pg_sleep(35); COMMIT"
        await asyncio.to_thread(stage.postgresql.psql, statement)

    async def check(self, stage: Stage) -> list[str]:
        for reader in self.readers:
            await reader.end()
        return [surprise for reader in self.readers for surprise in reader.surprises]

    def note(self) -> str:
        return told("reads", self.readers)


async def read(caller: Beside) -> bool:
    answer = await caller.asked("GET", "/api/shares/")
    return answer.status_code == 200
