"""Letting one fault befall a gateway under writes, and counting what came of it."""

import asyncio
import tempfile
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import ClassVar

from tests.faults.checking import compare, verify
from tests.faults.outcome import Outcome
from tests.faults.site import Site
from tests.faults.writing import Record, Writing, writing
from tests.support.servers.citus import cluster
from tests.support.servers.ports import own_port
from tests.support.servers.postgresql import PostgreSQL

SQLITE, POSTGRESQL, CITUS = "SQLite", "PostgreSQL", "Citus"
BOTH = (SQLITE, POSTGRESQL)
# Ids that are acknowledged before the fault, and again after it.
WARM_UP = 40


@dataclass
class Stage:
    """What a fault can reach. What it enters into `stack` is left at the end."""

    site: Site
    stack: AsyncExitStack
    random: Random
    writing: Writing | None = None

    @property
    def postgresql(self) -> PostgreSQL:
        assert self.site.postgresql is not None
        return self.site.postgresql

    async def go_on(self, many: int = 20) -> None:
        """Wait until so many more writes have been acknowledged."""
        assert self.writing is not None
        await self.writing.wait_for(many)


class Fault(ABC):
    """`prepare` sets up what the fault needs before the gateway starts; `inject` begins and ends it."""

    name: ClassVar[str]
    databases: ClassVar[tuple[str, ...]] = BOTH

    async def prepare(self, stage: Stage) -> None:  # noqa: B027
        """Most faults need nothing."""

    @abstractmethod
    async def inject(self, stage: Stage) -> None:
        """Begin the fault, and end it."""

    async def check(self, stage: Stage) -> list[str]:
        """What is wrong besides, for instance with other things that were written."""
        return []

    def note(self) -> str:
        """What callers beside the writers were answered."""
        return ""

    @asynccontextmanager
    async def folder(self) -> AsyncIterator[Path]:
        """Where the database and the gateway's files are."""
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            yield Path(folder)

    def impossible(self) -> str | None:
        """Why this machine cannot have the fault; None if it can."""
        return None


async def run(fault: Fault, database: str, seed: int) -> Outcome:
    """Let the fault befall a gateway with two workers while four clients write."""
    if reason := fault.impossible():
        return Outcome(fault.name, database, not_run=reason)
    async with AsyncExitStack() as stack:
        folder = await stack.enter_async_context(fault.folder())
        site = await _site(folder, database, stack)
        stage = Stage(site, stack, Random(seed))
        await site.prepare()
        await fault.prepare(stage)
        stack.push_async_callback(site.stop)
        await site.start()
        async with writing(site.address, site.tenant.token) as work:
            stage.writing = work
            await work.wait_for(WARM_UP)
            await fault.inject(stage)
            seconds = await work.recovered()
            await work.wait_for(WARM_UP)
        problems = [*work.record.surprises, *await fault.check(stage)]
        if status := await site.stop():
            problems.append(f"the gateway ended with status {status}")
        problems += site.failures()
        lost, duplicated = await compare(site, work.record)
        differences = await asyncio.to_thread(verify, site)
        found = (lost, duplicated, differences)
        outcome = _outcome(fault, database, work.record, seconds, found, problems)
        outcome.note = fault.note()
        return outcome


async def _site(folder: Path, database: str, stack: AsyncExitStack) -> Site:
    if database == SQLITE:
        return Site(folder, f"sqlite+aiosqlite:///{folder}/duograph.sqlite", None)
    if database == CITUS:
        spread = await asyncio.to_thread(stack.enter_context, cluster(folder))
        return Site(folder, spread.url, spread.nodes[0], cluster=spread)
    server = PostgreSQL(folder, own_port())
    stack.callback(server.kill)
    await asyncio.to_thread(server.create)
    await asyncio.to_thread(server.start)
    return Site(folder, server.url, server)


def _outcome(
    fault: Fault,
    database: str,
    record: Record,
    seconds: float,
    found: tuple[int, int, int],
    problems: list[str],
) -> Outcome:
    lost, duplicated, differences = found
    return Outcome(
        fault.name,
        database,
        requests=record.requests,
        tried=record.writes,
        acknowledged=record.kept,
        lost=lost,
        duplicated=duplicated,
        differences=differences,
        unexpected=sum(many for status, many in record.answers.items() if status >= 500 and status != 503),
        unavailable=record.answers[503],
        unanswered=record.unanswered,
        hints_missing=record.hints_missing,
        longest=record.longest,
        seconds=seconds,
        problems=problems,
    )
