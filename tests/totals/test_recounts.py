"""After an upgrade, what older processes wrote beside it is counted, too."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio
from alembic import command as alembic
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection as SyncConnection
from sqlalchemy import insert

from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.migrations.online import count_again
from storage.migrations.run import config_of, upgrade
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.upkeep import recounting
from storage.upkeep.recounting import Recounting, read_recount
from tests.support.callers.surfaces import Rest
from tests.support.commands.command import Command
from tests.support.databases.ledgers import verify_totals
from tests.support.databases.own_databases import own_database
from tests.support.servers.gateways import Tenant, make_tenant, run_gateway
from tests.support.servers.pooler import every_test_is_pooled

REVISION, BEFORE = "0040", "0039"


class Home:
    """A database of a test's own with two workspaces."""

    def __init__(self, url: str, database: Database, tenants: list[Tenant]) -> None:
        self.url, self.database, self.tenants = url, database, tenants

    @property
    def ids(self) -> list[UUID]:
        return [UUID(tenant.id) for tenant in self.tenants]

    async def differences(self) -> list[int]:
        return [(await verify_totals(self.database, id)).differences for id in self.ids]

    async def upgrade_beside_an_older_process(self) -> None:
        """Do what a revision that counts again does, then write rows as a process does that does not."""
        async with self.database.engine.begin() as connection:
            await connection.run_sync(_count_again)
        await self.add_uncounted()

    async def upgrade_from_an_older_revision(self) -> None:
        """The same with all revisions since."""
        async with self.database.engine.begin() as connection:
            await connection.run_sync(lambda sync: alembic.downgrade(config_of(sync), BEFORE))
        await upgrade(self.database)
        await self.add_uncounted()

    async def add_uncounted(self) -> None:
        async with self.database.write() as connection:
            for id in self.ids:
                await add_uncounted(connection, id)


def _count_again(connection: SyncConnection) -> None:
    with Operations.context(MigrationContext.configure(connection)):
        count_again(REVISION)


async def add_uncounted(connection: Connection, workspace_id: UUID) -> None:
    email = f"{uuid4().hex}@example.com"
    row = CustomerRow(workspace_id=workspace_id, email=email, email_folded=email).model_dump()
    await connection.execute(insert(table_of(CustomerRow)), row | {"metadata": {}})


@pytest_asyncio.fixture
async def home(database_url: str, tmp_path: Path) -> AsyncIterator[Home]:
    url = await own_database(database_url, tmp_path)
    async for gateway in run_gateway(url, tmp_path / "objects"):
        tenants = [await make_tenant(gateway) for _ in range(2)]
    database = Database(url)
    yield Home(url, database, tenants)
    await database.close()


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recounting, "PAUSE_SECONDS", 0)


async def connect(url: str, name: str) -> Any:
    settings = {"application_name": name} if name else {}
    return await asyncpg.connect(url.replace("+asyncpg", ""), server_settings=settings)


async def test_the_totals_of_each_workspace_are_corrected_and_then_no_longer_counted(home: Home) -> None:
    await home.upgrade_from_an_older_revision()
    assert all(await home.differences())
    left = await read_recount(home.database)
    assert left is not None
    assert left.workspaces == 2
    counting = Recounting(home.database)
    while await counting.run():
        pass
    assert await home.differences() == [0, 0]
    assert await read_recount(home.database) is None
    assert not await counting.run()


async def test_a_gateway_counts_again_by_itself(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests' connections through a pooler must not keep it waiting.
    monkeypatch.setattr(recounting, "MOST_WAITING", timedelta(0))
    await home.upgrade_beside_an_older_process()
    async for gateway in run_gateway(home.url, tmp_path / "objects"):
        while await read_recount(home.database) is not None:
            pass
        rest = Rest(gateway.client, gateway.app, home.tenants[0].token)
        assert (await rest.list_customers())["meta"]["total"] == 1


async def test_counting_begins_when_the_last_older_process_has_ended(home: Home) -> None:
    await home.upgrade_beside_an_older_process()
    if home.database.is_sqlite or every_test_is_pooled():
        return
    async with AsyncExitStack() as older, AsyncExitStack() as others:
        for stack, name in (
            (older, ""),
            (older, "duograph 0039"),
            (others, "duograph 9999"),
            (others, "psql"),
        ):
            stack.push_async_callback((await connect(home.url, name)).close)
        counting = Recounting(home.database)
        assert not await counting.run()
        assert (await read_recount(home.database)).older == 2
        await older.aclose()
        # The server's list is a moment late.
        while not await counting.run():
            pass


async def test_behind_a_pooler_which_hides_older_processes_counting_waits_for_its_time(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    await home.upgrade_beside_an_older_process()
    counting = Recounting(home.database, sees_processes=False)
    assert not await counting.run()
    monkeypatch.setattr(recounting, "MOST_WAITING", timedelta(0))
    assert await counting.run()


async def test_an_older_process_that_does_not_end_is_not_waited_for_forever(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    await home.upgrade_beside_an_older_process()
    monkeypatch.setattr(recounting, "MOST_WAITING", timedelta(0))
    if home.database.is_sqlite:
        return
    async with AsyncExitStack() as older:
        older.push_async_callback((await connect(home.url, "")).close)
        assert await Recounting(home.database).run()


async def test_one_process_counts_and_another_takes_over_if_it_ends(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    await home.upgrade_beside_an_older_process()
    first, second = Recounting(home.database), Recounting(home.database)
    assert await first.run()
    assert not await second.run()
    assert await first.run()
    monkeypatch.setattr(recounting, "GIVEN_UP_AFTER", timedelta(0))
    while await second.run():
        pass
    assert await home.differences() == [0, 0]
    assert await read_recount(home.database) is None


async def test_a_new_database_has_nothing_to_count_again(database_url: str, tmp_path: Path) -> None:
    database = Database(await own_database(database_url, tmp_path))
    assert await read_recount(database) is None
    await database.close()


@pytest.mark.long
async def test_the_doctor_says_what_is_left_and_compares_a_sample(home: Home, tmp_path: Path) -> None:
    command = Command(tmp_path, {"DUOGRAPH_DATABASE_URL": home.url})
    assert "totals" not in command.run("doctor").stdout
    await home.upgrade_beside_an_older_process()
    assert "the totals of 2 workspaces have to be counted again" in command.run("doctor").stdout
    counting = Recounting(home.database)
    while await counting.run():
        pass
    assert "totals" not in command.run("doctor").stdout
    async with home.database.write() as connection:
        await add_uncounted(connection, home.ids[0])
    said = command.run("doctor").stdout
    assert "warn  totals: Totals of 1 of 2 workspaces differ from the rows" in said
    command.run("totals", "rebuild")
    assert "totals" not in command.run("doctor").stdout
