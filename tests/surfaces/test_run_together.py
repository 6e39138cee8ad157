"""Operations that run together: how many connections they hold at a time, and that all have ended.

The database is a stand-in that counts: a real one lends connections to background tasks too.
"""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest
from sqlalchemy import bindparam, column, func, select, table
from sqlalchemy.dialects.postgresql import dialect

from resolvers.operations.context import UNITS_AT_A_TIME, Caller, Context
from resolvers.operations.rows.together import run_together
from storage.engine.statements.kept import Kept

# Its rows are not written as lines, so it is joined with no other statement.
STATEMENT = Kept(select(func.count()).select_from(table("shares", column("id"))).where(bindparam("id") == 1))
# For so many turns of the event loop a connection is held.
TURNS = 20


class CountingDatabase:
    dialect = dialect()
    replica = None
    is_sqlite = False

    def __init__(self):
        self.held = self.most = 0

    @asynccontextmanager
    async def snapshot(self, _payer=None):
        self.held += 1
        self.most = max(self.most, self.held)
        try:
            for _ in range(TURNS):
                await asyncio.sleep(0)
            yield self
        finally:
            self.held -= 1

    async def fetch(self, *_, **__):
        async with self.snapshot():
            return [(1,)]


@pytest.fixture
def ctx():
    return Context(SimpleNamespace(database=CountingDatabase()), Caller(None, None, "192.0.2.1", "request"))


async def test_a_change_takes_no_second_connection_for_a_snapshot(ctx):
    inside = replace(ctx, transaction=ctx.services.database)
    async with inside.snapshot() as connection:
        assert connection is inside.transaction
    with pytest.raises(RuntimeError, match=r"^A change takes no second connection"):
        await inside.in_snapshot(read_rows)
    assert ctx.services.database.most == 0


async def read_apart(ctx):
    async with ctx.snapshot():
        return "apart"


async def read_rows(ctx):
    return await ctx.fetch(STATEMENT, {"id": 1})


async def test_a_request_holds_four_connections_at_most(ctx):
    operations = [read_rows, *[read_apart] * 6, read_rows]
    assert await run_together(ctx, operations) == [[(1,)], *["apart"] * 6, [(1,)]]
    assert (ctx.services.database.most, ctx.services.database.held) == (UNITS_AT_A_TIME, 0)


async def test_operations_that_go_apart_wait_beside_each_other(ctx):
    together = asyncio.Barrier(2)

    async def waits_for_the_other(ctx):
        await ctx.go_apart()
        return await together.wait()

    assert sorted(await run_together(ctx, [waits_for_the_other] * 2)) == [0, 1]


async def test_a_cancellation_of_an_operation_is_that_of_the_request(ctx):
    async def cancelled(ctx):
        async with ctx.snapshot():
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await run_together(ctx, [read_rows, cancelled])
    assert ctx.services.database.held == 0


async def test_a_request_that_is_cancelled_twice_ends_all_of_its_operations(ctx):
    ended = []

    async def waits_for_rows(ctx):
        try:
            return await read_rows(ctx)
        finally:
            await asyncio.sleep(0)
            ended.append("rows")

    async def ends_slowly(ctx):
        try:
            await read_apart(ctx)
        finally:
            for _ in range(TURNS):
                await asyncio.sleep(0)

    request = asyncio.create_task(run_together(ctx, [ends_slowly, waits_for_rows]))
    for _ in range(2):
        for _ in range(TURNS // 2):
            await asyncio.sleep(0)
        request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert ended == ["rows"]
