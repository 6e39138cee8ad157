"""Packs of the past answer as the cells and facts they are made from, whatever is written or merged."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID, uuid4

import pytest
from sqlalchemy import insert, select, update

from storage.enums import FactKind
from storage.metrics.cells.blocks import BLOCK, DAYS, block_of
from storage.metrics.definitions import BY_SLUG, METRICS
from storage.metrics.facts import MOST_AT_END, Fact, microseconds, record_facts
from storage.metrics.grouping import share_cells, share_persons
from storage.metrics.grouping.engine import GroupedReader
from storage.metrics.grouping.groups import REST, Grouping
from storage.metrics.grouping.make import make_groups
from storage.metrics.grouping.ranking import Ranking
from storage.metrics.grouping.share_cells import ShareCells
from storage.metrics.packs import packing
from storage.metrics.packs.ledger import Packs
from storage.metrics.packs.making import PackMaking
from storage.metrics.packs.packed_blocks import packed_blocks
from storage.metrics.packs.packing import OVER_AFTER, Packing, pack_all
from storage.metrics.periods import Interval, make_timeline
from storage.metrics.reading.cell_source import make_source
from storage.metrics.reading.engine import Needs, read
from storage.metrics.reading.reader import GroupedBy, Selection
from storage.rows.rows import table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow, PersonMergeDeltaRow
from storage.tables.metrics.metric_packs import MetricPackRow, MetricSharePackRow
from storage.tables.metrics.metrics import PersonMergeRow
from tests.support.databases.facts import fold_all
from tests.support.databases.ledgers import rebuild_cells, verify_cells
from tests.support.statements.statements import noted

# Four blocks that are over, and the clocks of New York change in them.
FIRST = datetime.fromtimestamp(block_of(microseconds(datetime(2025, 2, 1, tzinfo=UTC))) / 1_000_000, UTC)
RANGES = [
    ("America/New_York", 5, 118, Interval.DAY),
    ("America/New_York", -3, 140, Interval.WEEK),
    ("Europe/Berlin", 33, 64, Interval.DAY),
    ("Europe/Berlin", 0, 127, Interval.MONTH),
    ("UTC", 32, 95, Interval.DAY),
    ("UTC", 30, 33, Interval.HOUR),
    ("Asia/Kolkata", 20, 70, Interval.DAY),
    ("Pacific/Kiritimati", 1, 100, Interval.DAY),
    ("Asia/Tokyo", -400, 400, Interval.YEAR),
]


_next_workspace = Packing._next


@pytest.fixture(autouse=True)
def packed_by_tests_only(monkeypatch):
    """A gateway that began just now packs in the background, and the tests' own packing leaves its block."""

    async def none(packing):
        return None

    monkeypatch.setattr(Packing, "_next", none)


@pytest.fixture
def home(tenant):
    return UUID(tenant.id)


@pytest.fixture
def shares():
    """More than a pack has apart, a few of them with most of the activity."""
    return [uuid4() for _ in range(40)]


@pytest.fixture
def record(gateway, home, shares):
    """Record facts of every kind at random moments of the four blocks."""
    random = Random(3)

    async def write(many):
        facts = [fact(random, home, shares) for _ in range(many)]
        async with gateway.database.write() as connection:
            await record_facts(connection, facts)

    return write


def fact(random, home, shares):
    kind = random.choice([*FactKind, FactKind.EVENT, FactKind.EVENT])
    seconds = random.choice([3_600 * random.randrange(DAYS * 96), random.randrange(DAYS * 4 * 86_400)])
    subject = {"share_id": random.choice([None, *shares, *shares[:5] * 8]), "person": random.randint(1, 40)}
    moment = FIRST + timedelta(seconds=seconds)
    money = {}
    if kind is FactKind.COST:
        money = {"currency": "usd", "amount": random.randrange(2**40), "parts": random.randrange(10**12)}
    elif kind in (FactKind.PRICED_SESSION, FactKind.PAYMENT, FactKind.REFUND):
        sign = -1 if kind is FactKind.REFUND else 1
        money = {"currency": random.choice(["usd", "eur"]), "amount": sign * random.randrange(9_999)}
    count = random.choice([1, 1, -1]) if kind is FactKind.ACTIVATION else 1
    return Fact(home, kind, moment, **subject, **money, count=count, bytes=random.randrange(2**50))


async def answers(connection, home, shares):
    """The groups of every range, for several rankings and selections."""
    found = []
    selections = [Selection((home,)), Selection((home,), share_ids=shares[3:33])]
    for zone, first, last, interval in RANGES:
        dates = [(FIRST + timedelta(days=days)).date() for days in (first, last)]
        edges = make_timeline(*dates, interval, zone).edges
        for slug, top, selection in (
            ("file_share_revenue", 10, selections[0]),
            ("active_user_by_event", 2, selections[0]),
            ("file_share_active_sessions", 3, selections[1]),
        ):
            source = make_source(connection, selection)
            reader = GroupedReader(source, make_groups(connection, selection, Grouping.SHARE), "usd")
            total = await read(source, Needs.of(METRICS), edges, "usd")
            ranking = Ranking([BY_SLUG[slug]], BY_SLUG[slug], top)
            keys = (await ranking.choose(reader, [edges], by_first=False)).keys
            groups = await reader.columns(keys, METRICS, edges, total)
            found.append({key: groups[key] for key in [*keys, REST]})
    return found


@pytest.fixture
def compare(home, shares, monkeypatch):
    """Compare the answers with packs, of which there have to be so many, and those without."""

    async def none(connection, workspace_id):
        return []

    async def check(connection, packs):
        assert len(await packed_blocks(connection, home)) == packs
        found = await answers(connection, home, shares)
        with monkeypatch.context() as patched:
            for module in (share_cells, share_persons):
                patched.setattr(module, "packed_blocks", none)
            assert found == await answers(connection, home, shares)

    return check


async def write_late(connection, home):
    """Facts in the second of the blocks, and merges of persons who are in all of them."""
    day = FIRST + timedelta(days=40)
    await record_facts(
        connection,
        [
            Fact(home, kind, day + timedelta(hours=hour), person=hour + 1, currency="usd", amount=5)
            for hour in range(6)
            for kind in (FactKind.EVENT, FactKind.PAYMENT)
        ],
    )
    for absorbed, into in ((7, 1), (8, 1), (30, 2)):
        row = {"workspace_id": home, "absorbed": absorbed}
        await connection.execute(insert(table_of(PersonMergeRow)).values(**row, into=into))
        await connection.execute(insert(table_of(PersonMergeDeltaRow)).values(**row))


async def test_packs_answer_as_cells_do(gateway, home, record, compare):
    await record(1_500)
    await fold_all(gateway, home)
    await pack_all(gateway.database, home)
    assert (await verify_cells(gateway.database, home)).differences == 0
    async with gateway.database.snapshot() as connection:
        await compare(connection, packs=4)


async def test_late_facts_of_a_share_count_before_they_are_folded(gateway, home, record, shares):
    await record(100)
    await fold_all(gateway, home)
    await pack_all(gateway.database, home)
    first = (FIRST + timedelta(days=1)).date()
    edges = make_timeline(first, first + timedelta(days=100), Interval.MONTH, "UTC").edges
    question = Needs.of([BY_SLUG["file_share_revenue"]]).question(edges, "usd")

    async def revenue(connection):
        source = ShareCells(connection, Selection((home,), share_ids=shares[:1]))
        by_share = await source.sums(replace(question, grouped_by=GroupedBy.SHARE))
        return sum(sum(values) for own in by_share.values() for values in own.values())

    async with gateway.database.write() as connection:
        before = await revenue(connection)
        money = {"share_id": shares[0], "currency": "usd", "amount": 5}
        late = Fact(home, FactKind.PAYMENT, FIRST + timedelta(days=40), **money)
        # More than wait for the commit, which would let a fold see them.
        await record_facts(connection, [late] * (MOST_AT_END + 1))
        assert len(await packed_blocks(connection, home)) == 4
        assert await revenue(connection) == before + 5 * (MOST_AT_END + 1)


@pytest.mark.long
async def test_late_facts_and_merges_are_in_the_answer_before_and_after_they_are_folded(
    gateway, home, record, compare
):
    await record(700)
    await fold_all(gateway, home)
    await pack_all(gateway.database, home)
    async with gateway.database.write() as connection:
        await write_late(connection, home)
        # Not committed, so no fold has seen them.
        await compare(connection, packs=4)
    await fold_all(gateway, home)
    async with gateway.database.snapshot() as connection:
        await compare(connection, packs=3)
    await pack_all(gateway.database, home)
    assert (await verify_cells(gateway.database, home)).differences == 0
    async with gateway.database.snapshot() as connection:
        await compare(connection, packs=4)


async def test_a_fold_into_the_block_of_a_pack_in_the_making_gives_it_up(gateway, home, record):
    await record(100)
    await fold_all(gateway, home)
    making = PackMaking(gateway.database, home, microseconds(FIRST) + BLOCK)
    assert await making.begin()
    assert await making.step()
    # Another one leaves it alone meanwhile.
    assert not await PackMaking(gateway.database, home, making.at).begin()
    async with gateway.database.write() as connection:
        await write_late(connection, home)
    await fold_all(gateway, home)
    while await making.step():
        pass
    async with gateway.database.read() as connection:
        assert await packed_blocks(connection, home) == []


async def test_what_waits_for_the_fold_is_not_packed(gateway, home):
    async with gateway.database.write() as connection:
        await write_late(connection, home)
        waiting = select(table_of(MetricDeltaRow).c.id).where(table_of(MetricDeltaRow).c.workspace_id == home)
        assert (await connection.execute(waiting)).first() is not None
        making = PackMaking(gateway.database, home, microseconds(FIRST) + BLOCK)
        assert not await making._is_free(connection)


async def test_only_what_is_over_is_packed(gateway, home, monkeypatch):
    now = datetime.now(UTC)
    # A block is over once in a month, and might be while this runs.
    monkeypatch.setattr(packing, "now", lambda: now)
    running = block_of(microseconds(now - OVER_AFTER))
    moments = [FIRST, FIRST + timedelta(days=DAYS), now - 2 * timedelta(days=DAYS), now]
    async with gateway.database.write() as connection:
        await record_facts(connection, [Fact(home, FactKind.EVENT, moment, person=1) for moment in moments])
    await fold_all(gateway, home)
    await pack_all(gateway.database, home)
    over = {block_of(microseconds(moment)) for moment in moments} - {running, running + BLOCK}
    async with gateway.database.read() as connection:
        assert await packed_blocks(connection, home) == sorted(over)


async def test_differing_packs_are_found_and_a_rebuild_removes_them(gateway, home, record):
    await record(300)
    await fold_all(gateway, home)
    await pack_all(gateway.database, home)
    packs, share_packs = table_of(MetricPackRow), table_of(MetricSharePackRow)
    first, second, *_ = await packed(gateway, home)
    async with gateway.database.write() as connection:
        totals = update(packs).where(packs.c.workspace_id == home, packs.c.at == first)
        await connection.execute(totals.values(totals=b""))
        of_pack = share_packs.c.workspace_id == home, share_packs.c.at == second
        await connection.execute(update(share_packs).where(*of_pack).values(hours=b""))
    assert (await verify_cells(gateway.database, home)).differences == 2
    await rebuild_cells(gateway.database, home)
    assert await packed(gateway, home) == []
    await pack_all(gateway.database, home)
    assert (await verify_cells(gateway.database, home)).differences == 0


async def packed(gateway, home):
    async with gateway.database.read() as connection:
        return await packed_blocks(connection, home)


async def test_the_background_task_packs_a_few_shares_at_a_time(gateway, home, record, monkeypatch):
    monkeypatch.setattr(packing, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(Packing, "_next", _next_workspace)
    await record(300)
    await fold_all(gateway, home)
    task = Packing(gateway.database)
    # The workspaces of other tests have had their turns.
    task._last = UUID(int=home.int - 1)
    # A block that the gateway of another test is packing is left to it.
    while len(await packed(gateway, home)) < 4:
        await task.run()


async def test_live_facts_forget_nothing(gateway, home):
    with noted(gateway.database) as statements:
        async with gateway.database.write() as connection:
            await Packs().add(connection, home, [{"moment": microseconds(datetime.now(UTC))}])
    assert not [statement for statement in statements if "metric_packs" in statement]
