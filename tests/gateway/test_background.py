"""Background tasks: woken when there is work, and gone when the gateway ends."""

import asyncio
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy.exc import DBAPIError

from gateway.background.counts import write_counts
from gateway.background.tasks import BackgroundTask, running
from resolvers.operations.context import Services
from storage.dialects.sqlite.refusals import ChangesRefused
from storage.engine.database import Database
from storage.usage.document_counts import DocumentCounts
from storage.usage.usage import Usage
from tests.support.measures.log_lines import own_log_lines
from tests.support.servers.gateways import Gateway


async def test_a_task_that_is_woken_looks_at_once() -> None:
    ran = asyncio.Semaphore(0)

    async def run() -> bool:
        ran.release()
        return False

    task = BackgroundTask("test", run, every=3600)
    async with running([task]):
        await ran.acquire()
        task.wake()
        await ran.acquire()


async def test_a_task_that_is_woken_while_the_gateway_ends_ends_with_it() -> None:
    started = asyncio.Event()

    async def run() -> bool:
        started.set()
        return False

    task = BackgroundTask("test", run, every=3600)
    async with running([task]):
        await started.wait()
        await asyncio.sleep(0)
        task.wake()


async def test_a_piece_that_swallows_its_end_is_told_again() -> None:
    started = asyncio.Event()

    async def run() -> bool:
        if started.is_set():
            await asyncio.Event().wait()
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return True
        return False

    async with running([BackgroundTask("test", run, every=3600)]):
        await started.wait()


async def test_a_task_that_waits_for_a_move_says_so_once_for_each_reason() -> None:
    reasons = ["is being moved", "is being moved", "was moved", None, "was moved"]
    ended, left = asyncio.Event(), list(reasons)

    async def run() -> bool:
        if not left:
            ended.set()
            return False
        if (reason := left.pop(0)) is not None:
            task.wake()
            raise ChangesRefused(reason)
        return True

    task = BackgroundTask("test", run, every=0)
    with own_log_lines() as lines:
        async with running([task]):
            await ended.wait()
    assert [line["reason"] for line in lines] == ["is being moved", "was moved", "was moved"]
    assert {line["event"] for line in lines} == {"background task waits"}


def counted(gateway: Gateway, database: Database) -> Services:
    """Services that have counted something, over this database."""
    counts = DocumentCounts()
    counts.add(UUID(int=1), "the hash of a document")
    services: Services = gateway.app.state.services
    return replace(services, database=database, document_counts=counts, usage=Usage())


async def test_counts_that_are_lost_as_the_gateway_ends_are_told(gateway: Gateway) -> None:
    away = Database("postgresql+asyncpg://ada@127.0.0.1:1/duograph")
    with own_log_lines() as lines:
        await write_counts(counted(gateway, away))
    await away.close()
    told = [(line["event"], line["counts"]) for line in lines]
    assert told == [("counts are lost: the database is not available", "document counts")]


async def test_what_else_goes_wrong_with_counts_as_the_gateway_ends_is_no_outage(
    gateway: Gateway, tmp_path: Path
) -> None:
    without_tables = Database(f"sqlite+aiosqlite:///{tmp_path}/empty.sqlite")
    with pytest.raises(DBAPIError, match="no such table"):
        await write_counts(counted(gateway, without_tables))
    await without_tables.close()
