"""Random histories told to a gateway, random questions about them, and the answers by a plain count."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy import delete, insert

from resolvers.accounts.users import find_user
from resolvers.metrics import answers
from resolvers.workspaces.administration import insert_workspace
from storage.enums import EventSource
from storage.ledger.folding import fold
from storage.ledger.workspace_lock import lock_workspace
from storage.metrics.cells.blocks import block_of
from storage.metrics.cells.merges import fold_merge
from storage.metrics.definitions import BY_SLUG
from storage.metrics.facts import microseconds, record_facts
from storage.metrics.packs.ledger import CELLS
from storage.metrics.packs.packing import OVER_AFTER, pack
from storage.rows.rows import insert_rows, table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.events.events import EventRow
from storage.tables.metrics.metric_cells import (
    ActivityCellRow,
    MetricDeltaRow,
    MoneyCellRow,
    PersonCellRow,
    PersonMergeDeltaRow,
)
from storage.tables.metrics.metric_packs import MetricPackRow, MetricSharePackRow
from storage.tables.metrics.metrics import MetricFactRow, PersonMergeRow
from storage.tables.shares.shares import ShareRow
from tests.metrics import reference
from tests.metrics.histories import CURRENCIES, Teller, facts_of
from tests.support.callers.refusals import UNKNOWN_ID
from tests.support.servers.gateways import make_tenant

_events = table_of(EventRow)
COMPARES = ["previous", "previous_month", "previous_year"]
KEPT = (
    EventRow,
    MetricFactRow,
    MetricDeltaRow,
    PersonMergeRow,
    PersonMergeDeltaRow,
    ActivityCellRow,
    MoneyCellRow,
    PersonCellRow,
    MetricPackRow,
    MetricSharePackRow,
)
# How far from the middle of its range a history reaches, in days.
REACH = {"hour": 5, "day": 15, "week": 60, "month": 200, "quarter": 400, "year": 900}


@dataclass(frozen=True)
class Home:
    """Two workspaces of one user, with different currencies; `customers` maps ids to workspace and person."""

    token: str
    currencies: dict[UUID, str]
    shares: list[UUID]
    customers: dict[UUID, tuple[UUID, int | None]]


async def make_home(gateway):
    tenant = await make_tenant(gateway, default_presentment_currency="eur")
    other = {"name": "Other", "slug": f"w-{uuid4().hex}", "default_presentment_currency": "jpy"}
    async with gateway.database.write() as connection:
        owner = await find_user(connection, tenant.user_email)
        second = await insert_workspace(connection, owner, **other)
        workspaces = {UUID(tenant.id): "eur", second.id: "jpy"}
        rows = [
            {"workspace_id": workspace, "email": f"{person}@example.com", "person": person}
            for workspace in workspaces
            for person in (None, 1, 2, 5)
        ]
        made = await insert_rows(connection, CustomerRow, rows)
        shares = [uuid4(), uuid4(), uuid4()]
        named = [
            {"workspace_id": workspace, "id": share, "name": f"Share {number}"}
            for workspace in workspaces
            for number, share in enumerate(shares)
        ]
        await insert_rows(connection, ShareRow, named)
    customers = {row.id: (row.workspace_id, row.person) for row in made}
    return Home(tenant.personal_token, workspaces, shares, customers)


async def tell(gateway, home, history, random):
    """Replace the log of the workspaces by this history, and fold some or all of it."""
    merges = [
        {"workspace_id": workspace, "absorbed": absorbed, "into": into}
        for (workspace, absorbed), into in history.merges.items()
    ]
    facts = list(facts_of(history))
    random.shuffle(facts)
    early = random.choice([0, len(facts) // 2, len(facts)])
    async with gateway.database.write() as connection:
        for workspace in sorted(home.currencies):
            await lock_workspace(connection, workspace, wait=True)
        for model in KEPT:
            table = table_of(model)
            await connection.execute(delete(table).where(table.c.workspace_id.in_(home.currencies)))
        await record_facts(connection, facts[:early])
    await fold_some(gateway, home, random)
    await pack_some(gateway, home, facts, random)
    async with gateway.database.write() as connection:
        await insert_rows(connection, PersonMergeRow, merges)
        await insert_rows(connection, PersonMergeDeltaRow, [merge_delta_of(merge) for merge in merges])
        if history.events:
            # Not counted, as they are deleted again, which events never are.
            await connection.execute(insert(_events), [row_of(event) for event in history.events])
        await record_facts(connection, facts[early:])
    await fold_some(gateway, home, random)
    await pack_some(gateway, home, facts, random)


async def forget_events(gateway, home):
    async with gateway.database.write() as connection:
        await connection.execute(delete(_events).where(_events.c.workspace_id.in_(home.currencies)))


def row_of(event):
    whole = None if event.cost is None else event.cost.numerator // event.cost.denominator
    return {
        "id": uuid4(),
        "created_at": event.at,
        "workspace_id": event.workspace,
        "share_id": event.share,
        "person": event.person,
        "timestamp": event.at,
        "source": EventSource.USER,
        "name": event.name,
        "cost_currency": event.currency,
        "cost_amount": whole,
        "cost_parts": None if event.cost is None else int((event.cost - whole) * 10**12),
        "metadata": {},
    }


def merge_delta_of(merge):
    return {"workspace_id": merge["workspace_id"], "absorbed": merge["absorbed"]}


async def fold_some(gateway, home, random):
    """Fold nothing, a part or everything, while the gateway may fold too."""
    for workspace in home.currencies:
        async with gateway.database.write() as connection:
            await lock_workspace(connection, workspace, wait=True)
            await fold(connection, CELLS, workspace, random.choice([0, 20, 10_000]))
            if random.random() < 0.5:
                await fold_merge(connection, workspace)


async def pack_some(gateway, home, facts, random):
    """Pack no block, or a few of those in which something happened, as far as they are over and folded."""
    over = block_of(microseconds(datetime.now(UTC) - OVER_AFTER))
    blocks = sorted({block_of(microseconds(fact.moment)) for fact in facts})
    past = [at for at in blocks if at < over]
    for workspace in home.currencies:
        for at in random.sample(past, min(len(past), random.choice([0, 2, 5]))):
            await pack(gateway.database, workspace, at)


def make_history(random, home, asked):
    zone, start, end, interval = asked
    dates = [(start, end), *(compared_dates(start, end, compare) for compare in COMPARES)]
    bounds = [until for each in dates for _, _, until in reference.periods(zone, *each, interval)]
    middle = start + (end - start) / 2
    reach = max(REACH[interval], (end - start).days // 2)
    return Teller(random, middle, reach, list(home.currencies), home.shares, bounds).history()


def compared_dates(start, end, compare):
    """The range before, or the same dates a month or a year before."""
    if compare == "previous":
        return start - (end - start) - timedelta(days=1), start - timedelta(days=1)
    return tuple(months_before(day, 1 if compare == "previous_month" else 12) for day in (start, end))


def months_before(day, months):
    """The same date that many months before, or the last one before it that there is."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    for last in range(day.day, 0, -1):
        with suppress(ValueError):
            return date(year, month + 1, last)
    raise AssertionError(day)


def filters_of(random, home):
    """Random filters, with one or two values, existing or not."""
    found = {}
    pools = {
        "workspace_id": list(home.currencies),
        "share_id": [*home.shares, UNKNOWN_ID],
        "customer_id": [*home.customers, UNKNOWN_ID],
    }
    for name, pool in pools.items():
        if random.random() < 0.4:
            found[name] = [str(id) for id in random.sample(pool, random.randint(1, 2))]
    if random.random() < 0.5:
        found["metrics"] = random.sample(list(BY_SLUG), random.randint(1, 5))
    if random.random() < 0.6:
        found["currency"] = random.choice(CURRENCIES)
    if random.random() < 0.5:
        found["compare"] = random.choice(COMPARES)
    return found


def view_of(history, home, filters):
    """The reference's view of the filters."""
    workspaces = {UUID(id) for id in filters.get("workspace_id", ())} or set(home.currencies)
    shared = {home.currencies[workspace] for workspace in workspaces}
    currency = filters.get("currency") or (shared.pop() if len(shared) == 1 else "usd")
    shares = persons = None
    if "share_id" in filters:
        shares = {UUID(id) for id in filters["share_id"]}
    if "customer_id" in filters:
        named = [home.customers.get(UUID(id)) for id in filters["customer_id"]]
        known = [person for person in named if person is not None and person[1] is not None]
        persons = {(workspace, history.merges.get((workspace, n), n)) for workspace, n in known}
    return reference.View(history, workspaces, shares, persons, currency)


def expected(view, asked, slugs, compare=None):
    zone, start, end, interval = asked
    begins = reference.first_instant(zone, start)
    ends = reference.first_instant(zone, end + timedelta(days=1))
    comparison = None
    if compare is not None:
        dates = compared_dates(start, end, compare)
        named = {"start_date": dates[0].isoformat(), "end_date": dates[1].isoformat()}
        comparison = named | measured(view, (zone, *dates, interval), slugs) | {"groups": []}
    return measured(view, asked, slugs) | {
        "currency": view.currency,
        "other_currencies": view.others(begins, ends),
        "groups": [],
        "comparison": comparison,
    }


def measured(view, asked, slugs):
    """The periods and totals of a range."""
    zone, start, end, interval = asked
    begins = reference.first_instant(zone, start)
    ends = reference.first_instant(zone, end + timedelta(days=1))
    clock, periods = answers.now(), []
    for stamp, since, until in reference.periods(zone, start, end, interval):
        values = reference.values(view, since, until, begins)
        described = {"timestamp": stamp, "is_complete": until <= clock}
        periods.append(described | {slug: values[slug] for slug in slugs})
    totals = reference.values(view, begins, ends, begins)
    return {"periods": periods, "totals": {slug: totals[slug] for slug in slugs}}
