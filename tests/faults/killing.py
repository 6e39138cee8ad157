"""Kills a migration or a fold at its n-th statement, for each n, and looks at what is left.

`python -m tests.faults.killing migration|fold URL [CHOSEN SEED]` prints one JSON object. Each attempt is a
process of its own, forked from one that has imported everything, which kills itself as a power cut would.
`CHOSEN` is the most statements to try, chosen by the seed; without it all are tried.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine, make_url

from storage.engine.connections import PostgresqlConnection, SqliteThread
from storage.engine.database import Database
from tests.faults.killed_work import WORK, Work

# More statements than any work has.
_NEVER = 1_000_000


class Statements:
    """Counts the statements of this process, COMMITs before and after they run, and dies at the `last`."""

    def __init__(self, last: int) -> None:
        self.count = 0
        self._last = last

    def note(self, *_: Any) -> None:
        self.count += 1
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def listen(self, database: Database) -> None:
        database.listeners.append(self.note)
        event.listen(Engine, "before_cursor_execute", self.note)
        event.listen(Engine, "commit", self.note)
        for kind in (PostgresqlConnection, SqliteThread):
            kind.commit = self._around(kind.commit)  # type: ignore[method-assign]

    def _around(self, commit: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
        async def counted(connection: Any) -> None:
            self.note()
            await commit(connection)
            self.note()

        return counted


async def _with(url: str, run: Callable[[Database], Awaitable[Any]], statements: Statements | None) -> Any:
    database = Database(url)
    if statements is not None:
        statements.listen(database)
    try:
        return await run(database)
    finally:
        await database.close()


def _attempt(work: Work, url: str, last: int) -> int | None:
    """Run the work in a process that dies at this statement; how many it took if it came to its end."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        statements = Statements(last)
        asyncio.run(_with(url, work.run, statements))
        os.write(writing, str(statements.count).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        count = said.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status not in (0, -signal.SIGKILL):
        raise RuntimeError(f"The work ended with status {status}.")
    return int(count) if status == 0 else None


def _restore(url: str) -> None:
    """Bring the database back to what `prepare` made of it."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        file = Path(str(parsed.database))
        for suffix in ("-wal", "-shm", "-journal"):
            Path(f"{file}{suffix}").unlink(missing_ok=True)
        file.write_bytes(Path(f"{file}.kept").read_bytes())
        return

    async def copy(server: Database) -> None:
        async with server.read() as connection:
            await connection.exec_driver_sql("DROP DATABASE IF EXISTS killed WITH (FORCE)")
            await connection.exec_driver_sql("CREATE DATABASE killed TEMPLATE kept")

    asyncio.run(_with(_other(url, "postgres"), copy, None))


def _other(url: str, name: str) -> str:
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def _prepare(work: Work, url: str) -> str:
    """Make the database that each attempt begins with; the address of what is attempted on."""
    if url.startswith("sqlite"):
        asyncio.run(_with(url, work.prepare, None))
        file = Path(str(make_url(url).database))
        Path(f"{file}.kept").write_bytes(file.read_bytes())
        return url

    async def create(server: Database) -> None:
        async with server.read() as connection:
            await connection.exec_driver_sql("CREATE DATABASE kept")

    asyncio.run(_with(url, create, None))
    asyncio.run(_with(_other(url, "kept"), work.prepare, None))
    return _other(url, "killed")


def main() -> None:
    name, url, *choice = sys.argv[1:]
    work = WORK[name]
    url = _prepare(work, url)
    _restore(url)
    total = _attempt(work, url, _NEVER)
    assert total
    expected = asyncio.run(_with(url, work.describe, None))
    places = list(range(1, total + 1))
    if choice:
        chosen, seed = map(int, choice)
        places = sorted(Random(seed).sample(places, min(chosen, len(places))))
    wrong = []
    for place in places:
        _restore(url)
        assert _attempt(work, url, place) is None, f"The work ended before statement {place}."
        # What a killed process left behind is finished by the next one.
        assert _attempt(work, url, _NEVER) is not None
        if asyncio.run(_with(url, work.describe, None)) != expected:
            wrong.append(place)
    sys.stdout.write(json.dumps({"statements": total, "killed": len(places), "wrong": wrong}))


if __name__ == "__main__":
    main()
