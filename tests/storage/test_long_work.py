"""Statements that last long: those of one key run one at a time, and keep nothing else waiting."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from itertools import count

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.exc import TimeoutError as PoolTimeout

from storage.dialects.sqlite import reader
from storage.engine import pool
from storage.engine.database import Database
from storage.engine.payers import Payer
from storage.engine.statements.kept import Kept
from storage.engine.turns import long_work
from storage.engine.turns.long_work import LongWork

ONE, TWO = Kept(text("SELECT 1")), Kept(text("SELECT 2"))
CALLER = Payer("one")


@pytest.fixture(autouse=True)
def the_loop_does_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it does for gateways of other tests meanwhile would be taken off how long a run lasts."""
    monkeypatch.setattr(pool, "thread_time", float)


@pytest_asyncio.fixture
async def database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    # Short reads of SQLite need no connection.
    monkeypatch.setattr(reader, "MOST_SECONDS", 0)
    monkeypatch.setattr(reader, "STEPS", 1)
    monkeypatch.setattr(pool, "monotonic", float)
    opened = Database(database_url, pool_size=8, most_long=1)
    yield opened
    await opened.close()


@contextmanager
def lasting(seconds: float, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each run in the block lasts as many seconds."""
    moments = count()
    monkeypatch.setattr(pool, "monotonic", lambda: next(moments) * seconds)
    yield
    monkeypatch.setattr(pool, "monotonic", float)


async def run(database: Database, kept: Kept, payer: Payer | None = CALLER) -> int:
    ((number,),) = await database.fetch(kept, {}, payer=payer)
    return int(number)


async def begin(database: Database, kept: Kept) -> "asyncio.Task[int]":
    """The statement, as far as it comes without waiting for a thread or a server."""
    task = asyncio.create_task(run(database, kept))
    await asyncio.sleep(0)
    return task


def long_work_of(database: Database) -> LongWork:
    return database.pools["primary"].long_work


def waiting(database: Database) -> int:
    return long_work_of(database).waiting


async def test_a_long_statement_waits_for_another_one_of_its_key_and_for_nothing_else(database, monkeypatch):
    with lasting(0.25, monkeypatch):
        await run(database, ONE)
    await run(database, TWO)
    async with long_work_of(database).turn(CALLER.key):
        long = await begin(database, ONE)
        assert waiting(database) == 1
        assert await run(database, TWO) == 2
        for other in (Payer("other"), None):
            assert await run(database, ONE, other) == 1
        assert not long.done()
    assert await long == 1
    assert waiting(database) == 0


async def test_a_statement_is_quick_again_after_as_many_quick_runs_as_it_lasted_hundredths_of_a_second(
    database, monkeypatch
):
    with lasting(0.125, monkeypatch):
        await run(database, ONE)
    for is_long in [True] * 12 + [False]:
        async with long_work_of(database).turn(CALLER.key):
            task = await begin(database, ONE)
            assert waiting(database) == is_long
        await task


async def test_what_the_event_loop_did_meanwhile_does_not_make_a_statement_long_but_for_a_second_of_it(
    database, monkeypatch
):
    await run(database, ONE)
    moments = count()
    monkeypatch.setattr(pool, "thread_time", lambda: next(moments) * 10)
    for seconds, debt in ((1, 0), (1.5, 50)):
        with lasting(seconds, monkeypatch):
            await run(database, ONE)
        assert long_work_of(database).debt(CALLER.key, ONE) == debt


async def test_those_who_wait_for_a_long_one_that_was_quick_after_all_go_on_together(database):
    work = long_work_of(database)
    await run(database, ONE)
    work.note(CALLER.key, ONE, 0.125)
    async with work.turn(CALLER.key):
        tasks = [await begin(database, ONE) for _ in range(2)]
        assert waiting(database) == 2
        for _ in range(12):
            work.note(CALLER.key, ONE, 0)
    async with work.turn(CALLER.key):
        assert await asyncio.gather(*tasks) == [1, 1]


async def test_a_statement_that_its_key_has_not_run_waits_for_others_that_are_new_and_not_for_long_ones(
    database,
):
    async with long_work_of(database).turn(CALLER.key, is_new=True):
        task = await begin(database, ONE)
        assert waiting(database) == 1
    await task
    async with long_work_of(database).turn(CALLER.key):
        assert await run(database, TWO) == 2


async def test_those_who_wait_as_new_go_on_as_what_the_first_of_them_was(database, monkeypatch):
    async with long_work_of(database).turn(CALLER.key):
        async with long_work_of(database).turn(CALLER.key, is_new=True):
            waiting_as_new = [await begin(database, kept) for kept in (ONE, TWO)]
            assert waiting(database) == 2
            for kept, seconds in ((ONE, 1), (TWO, 0)):
                long_work_of(database).note(CALLER.key, kept, seconds)
        long, quick = waiting_as_new
        assert await quick == 2
        assert waiting(database) == 1
        assert not long.done()
    assert await long == 1


async def test_a_short_read_of_sqlite_is_known_to_be_quick_after_its_first_run(database, monkeypatch):
    monkeypatch.setattr(reader, "MOST_SECONDS", 60)
    await run(database, ONE)
    assert long_work_of(database).debt(CALLER.key, ONE) == 0


async def test_a_run_that_did_not_end_does_not_make_a_statement_quick(database):
    broken = Kept(text("SELECT 1 FROM nothing"))
    for _ in range(2):
        with pytest.raises(Exception, match="nothing"):
            await run(database, broken)
        assert long_work_of(database).debt(CALLER.key, broken) is None


async def test_several_may_run_at_a_time_where_the_setting_says_so(database_url, monkeypatch):
    monkeypatch.setattr(reader, "MOST_SECONDS", 0)
    monkeypatch.setattr(reader, "STEPS", 1)
    database = Database(database_url, pool_size=8, most_long=2)
    with lasting(0.5, monkeypatch):
        await run(database, ONE)
    turns = long_work_of(database)
    async with turns.turn(CALLER.key):
        assert await run(database, ONE) == 1
        async with turns.turn(CALLER.key):
            task = await begin(database, ONE)
            assert waiting(database) == 1
        assert await task == 1
    await database.close()


async def test_who_gives_up_leaves_the_turn_to_the_next(database, monkeypatch):
    async with long_work_of(database).turn(CALLER.key, is_new=True):
        cancelled = await begin(database, ONE)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        monkeypatch.setattr(long_work, "PATIENCE_SECONDS", 0)
        with pytest.raises(PoolTimeout):
            await run(database, ONE)
        assert waiting(database) == 0
    assert await run(database, ONE) == 1


async def test_what_is_known_of_statements_is_bounded(database, monkeypatch):
    monkeypatch.setattr(long_work, "MOST_RECORDS", 1)
    for kept, other in ((ONE, TWO), (TWO, ONE), (TWO, ONE)):
        await run(database, kept)
        assert long_work_of(database).debt(CALLER.key, kept) == 0
        assert long_work_of(database).debt(CALLER.key, other) is None


def test_no_statement_is_taken_for_another_that_was_forgotten():
    numbers = [Kept(text("SELECT 1")).number for _ in range(3)]
    assert len(set(numbers)) == 3
