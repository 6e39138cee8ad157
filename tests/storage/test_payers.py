"""What a payer may hold of a pool: others get a connection at once, and everybody is served in turn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from time import monotonic

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.exc import TimeoutError as PoolTimeout

from storage.engine import payers, pool
from storage.engine.database import Database
from storage.engine.payers import Payer
from storage.engine.turns import waits

ONE = text("SELECT 1")
SHARE = 2


@pytest_asyncio.fixture
async def pooled(database_url: str) -> AsyncIterator[Database]:
    """A pool of eight connections, of which each key may hold two."""
    database = Database(database_url, pool_size=8)
    yield database
    await database.close()


async def hold(database: Database, key: str | None, held: AsyncExitStack, many: int = SHARE) -> None:
    for _ in range(many):
        await held.enter_async_context(database.read(None if key is None else Payer(key)))


async def use(database: Database, key: str, order: list[str]) -> None:
    async with database.read(Payer(key)) as connection:
        order.append(key)
        await connection.execute(ONE)


async def test_a_key_that_holds_its_share_waits_while_others_are_served(pooled: Database) -> None:
    order: list[str] = []
    async with AsyncExitStack() as held:
        await hold(pooled, "slow", held)
        waiting = asyncio.create_task(use(pooled, "slow", order))
        for key in ("quick", "other"):
            await use(pooled, key, order)
        async with pooled.write(Payer("quick")), pooled.read():
            pass
        assert pooled.pools["primary"].waiting == 1
        assert order == ["quick", "other"]
    await waiting
    assert order == ["quick", "other", "slow"]
    assert pooled.pools["primary"].used == 0


async def test_every_unit_of_work_counts_for_the_share_and_ends(pooled: Database) -> None:
    payer = Payer("one")
    for _ in range(3):
        async with pooled.read(payer), pooled.snapshot(payer):
            pass
        async with pooled.write(payer):
            pass
        with pytest.raises(ZeroDivisionError):
            async with pooled.read(payer):
                _ = 1 / 0
    async with AsyncExitStack() as held:
        await hold(pooled, "one", held)
        assert pooled.pools["primary"].used == SHARE


async def test_those_who_wait_for_an_exhausted_pool_take_turns(database_url: str) -> None:
    order: list[str] = []
    database = Database(database_url, pool_size=1)
    asked = ["many"] * 4 + ["few"]
    async with database.read():
        tasks = [asyncio.create_task(use(database, key, order)) for key in asked]
        # One turn of the loop begins all of them, and nothing that they do before they wait takes another.
        await asyncio.sleep(0)
        assert database.pools["primary"].waiting == len(asked)
    await asyncio.gather(*tasks)
    assert order == ["many", "few", "many", "many", "many"]
    await database.close()


async def test_a_unit_that_gives_up_leaves_its_share_to_the_next(
    pooled: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    async with AsyncExitStack() as held:
        await hold(pooled, "one", held)
        cancelled = asyncio.create_task(use(pooled, "one", order))
        await asyncio.sleep(0)
        cancelled.cancel()
        monkeypatch.setattr(waits, "PATIENCE_SECONDS", 0)
        with pytest.raises(PoolTimeout):
            await use(pooled, "one", order)
        assert pooled.pools["primary"].waiting == 0
    for _ in range(2 * SHARE):
        await use(pooled, "one", order)
    assert pooled.pools["primary"].used == 0


async def test_a_unit_that_is_cancelled_as_it_is_served_leaves_its_place_to_the_next(
    database_url: str,
) -> None:
    order: list[str] = []
    database = Database(database_url, pool_size=1)
    primary = database.pools["primary"]
    held = await primary.take()
    cancelled = asyncio.create_task(use(database, "one", order))
    await asyncio.sleep(0)
    assert primary.waiting == 1
    # It has the connection before the loop comes to it.
    primary.give_back(held)
    assert (primary.waiting, primary.used) == (0, 1)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    await use(database, "one", order)
    assert (order, primary.used) == (["one"], 0)
    await database.close()


async def test_a_writer_waits_for_no_share_where_others_wait_for_it(pooled: Database) -> None:
    async with AsyncExitStack() as held:
        await hold(pooled, "one", held)
        writing = asyncio.create_task(write(pooled, "one"))
        async with pooled.write(Payer("other")) as connection:
            await connection.execute(ONE)
        if pooled.is_sqlite:
            await writing
    await writing


async def write(database: Database, key: str) -> None:
    async with database.write(Payer(key)) as connection:
        await connection.execute(ONE)


async def test_a_payer_pays_for_the_time_of_its_connections(
    pooled: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments, own = iter(range(1_000)), asyncio.current_task()

    def ticking() -> float:
        # Gateways of other tests look for work meanwhile.
        return next(moments) if asyncio.current_task() is own else monotonic()

    for module in (pool, payers):
        monkeypatch.setattr(module, "monotonic", ticking)
    payer, other = Payer("one"), Payer("other")
    async with pooled.read(payer) as connection:
        await connection.execute(ONE)
    async with pooled.write(payer) as connection:
        await connection.execute(ONE)
    async with pooled.read():
        pass
    assert (payer.seconds, other.seconds) == (2, 0)
