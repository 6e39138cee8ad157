"""The fold comes to what its process wrote, goes on when a workspace fails, and sweeps all of them rarely."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from uuid import uuid4

import pytest
import pytest_asyncio
from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import DBAPIError

from resolvers.accounts.users import create_user
from resolvers.workspaces.administration import insert_workspace
from storage.engine.before_commit import note_deltas
from storage.engine.database import MOST_UNFOLDED, Database
from storage.enums import FactKind
from storage.ledger.workspace_lock import lock_workspace, rebuild_in_one_snapshot
from storage.metrics.facts import Fact, record_facts
from storage.migrations.run import upgrade
from storage.rows.rows import table_of
from storage.tables.events.event_counts import ALL_NAMES, EventCountRow, EventDeltaRow
from storage.tables.metrics.metric_cells import MetricDeltaRow, PersonCellRow
from storage.upkeep import folding
from storage.upkeep.folding import Fold
from tests.storage.conftest import make_empty
from tests.support.databases.ledgers import rebuild_cells, verify_cells
from tests.support.statements.statements import noted

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = 3600


@pytest_asyncio.fixture(scope="module")
async def database(database_url, tmp_path_factory):
    """A database of its own, in which no gateway folds."""
    database = await make_empty(database_url, tmp_path_factory.mktemp("folding"))
    await upgrade(database)
    yield database
    await database.close()


@pytest.fixture
async def homes(database):
    """Three workspaces."""
    unique = uuid4().hex
    async with database.write() as connection:
        user = await create_user(connection, f"{unique}@example.com", "a long password", "Ada")
        workspaces = [
            await insert_workspace(connection, user, name="Acme", slug=f"{unique}-{number}")
            for number in range(3)
        ]
    return [workspace.id for workspace in workspaces]


async def record(database, home, person=1):
    async with database.write() as connection:
        await record_facts(connection, [Fact(home, FactKind.EVENT, FIRST, person=person)])


async def waiting(database):
    """The workspaces with deltas."""
    async with database.read() as connection:
        return set((await connection.execute(select(table_of(MetricDeltaRow).c.workspace_id))).scalars())


async def one_round(fold):
    """Fold until the round ends, also after errors, as the background task does; returns the errors."""
    errors = []
    while True:
        try:
            if not await fold.run():
                return errors
        except ValueError as error:
            errors.append(error)


async def test_a_workspace_that_cannot_be_folded_does_not_stop_the_others(database, homes):
    broken = homes[0]
    fold = Fold(database, HOUR)
    await record(database, broken)
    assert await one_round(fold) == []
    persons = table_of(PersonCellRow)
    async with database.write() as connection:
        own = persons.c.workspace_id == broken
        await connection.execute(update(persons).where(own).values(persons=b"not a bitmap"))
    for home in homes:
        await record(database, home, person=2)
    assert len(await one_round(fold)) == 1
    assert await waiting(database) == {broken}
    await rebuild_cells(database, broken)
    assert await one_round(Fold(database, HOUR)) == []
    assert await waiting(database) == set()
    for home in homes:
        assert (await verify_cells(database, home))[1] == 0


# SQLite is always swept: one file costs no more than a note.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
async def test_what_the_process_wrote_is_folded_without_a_sweep(database, homes):
    fold = Fold(database, HOUR)
    await one_round(fold)
    for home in homes:
        await record(database, home)
    with noted(database) as statements:
        assert await one_round(fold) == []
    assert await waiting(database) == set()
    assert folding._FIRST_AFTER.on(database.dialect).text not in statements


async def test_what_others_wrote_is_folded_by_the_next_sweep(database, homes):
    fold, other = Fold(database, HOUR), Database(database.engine.url.render_as_string(hide_password=False))
    await one_round(fold)
    await record(other, homes[0])
    await one_round(fold)
    # On PostgreSQL the last sweep is not an hour ago; a process that starts sweeps at once.
    assert await waiting(database) == (set() if database.is_sqlite else {homes[0]})
    await one_round(Fold(database, HOUR))
    assert await waiting(database) == set()
    await other.close()


async def test_a_change_that_is_rolled_back_notes_nothing(database, homes):
    await one_round(Fold(database))
    with suppress(LookupError):
        async with database.write() as connection:
            await record_facts(connection, [Fact(homes[0], FactKind.EVENT, FIRST, person=1)])
            raise LookupError
    assert database.take_unfolded() == []


async def test_notes_are_bounded(database):
    database.take_unfolded()
    database.note_unfolded(uuid4() for _ in range(MOST_UNFOLDED + 1))
    assert len(database.take_unfolded()) == MOST_UNFOLDED


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
async def test_a_locked_workspace_is_left_to_a_later_round_and_writers_do_not_wait_for_it(database, homes):
    locked, fold = homes[0], Fold(database, HOUR)
    for home in homes:
        await record(database, home)
    await one_round(fold)
    async with database.write() as holder:
        assert await lock_workspace(holder, locked, wait=True)
        for home in homes:
            await record(database, home, person=2)
        assert await one_round(fold) == []
        assert await waiting(database) == {locked}
    assert await one_round(fold) == []
    assert await waiting(database) == set()


async def test_a_rebuild_that_fails_by_itself_is_not_repeated(database, homes):
    runs = []

    async def rebuild(connection, workspace_id):
        runs.append(workspace_id)
        await connection.exec_driver_sql("SELECT * FROM nothing")

    with pytest.raises(DBAPIError, match="nothing"):
        await rebuild_in_one_snapshot(database, homes[0], rebuild)
    assert runs == homes[:1]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
async def test_of_many_that_lock_a_workspace_for_the_first_time_one_at_a_time_has_it(database, homes):
    holders = []

    async def hold():
        async with database.write() as connection:
            assert await lock_workspace(connection, homes[0], wait=True)
            holders.append(None)
            assert len(holders) == 1
            await connection.execute(select(1))
            holders.pop()

    await asyncio.gather(*(hold() for _ in range(10)))


# SQLite has no deltas of totals.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
@pytest.mark.parametrize(("names", "pieces"), [(50, 3), (3_500, 4)])
async def test_a_piece_takes_more_deltas_if_few_rows_are_left_of_them(database, homes, names, pieces):
    fold = Fold(database, HOUR)
    await one_round(fold)
    counts = table_of(EventCountRow)
    await add_event_deltas(database, homes[0], names)
    with noted(database) as statements:
        await one_round(fold)
    assert len([each for each in statements if "DELETE FROM event_deltas" in each]) == pieces
    async with database.read() as connection:
        own = (counts.c.workspace_id == homes[0]) & (counts.c.period == "hour")
        numbers = select(func.count(), func.sum(counts.c.occurrences)).where(own, counts.c.name != ALL_NAMES)
        assert tuple((await connection.execute(numbers)).one()) == (names, 3_500)


# SQLite has no deltas of totals.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
async def test_what_is_combined_in_one_workspace_makes_no_piece_of_another_larger(database, homes):
    fold = Fold(database, HOUR)
    await one_round(fold)
    await add_event_deltas(database, homes[0], 50)
    await one_round(fold)
    await add_event_deltas(database, homes[1], 3_500)
    with noted(database) as statements:
        await one_round(fold)
    assert len([each for each in statements if "DELETE FROM event_deltas" in each]) == 4


async def add_event_deltas(database, workspace_id, names):
    """3,500 deltas, of so many names."""
    moments = {"hour": FIRST, "first_seen": FIRST, "last_seen": FIRST}
    async with database.write() as connection:
        rows = [
            {"workspace_id": workspace_id, "name": f"n{number % names}", "id": uuid4(), "source": "user"}
            | {"occurrences": 1, **moments}
            for number in range(3_500)
        ]
        await connection.execute(insert(table_of(EventDeltaRow)), rows)
        note_deltas(connection, (workspace_id,))
