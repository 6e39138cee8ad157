"""Writes a demo workspace's customers and activity, with a progress bar.

The operations of the backfill would take twice as long: they check what is known here, and leave the cells
to the fold.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID, uuid4

from sqlalchemy import func, select

from gateway.cli.demo.activity import ZONES, Activity, Buyer, Item
from gateway.cli.demo.data import FIRST_NAMES, LAST_NAMES
from gateway.cli.kit.as_user import perform
from gateway.cli.kit.progress import counting
from resolvers.customers.customers import create_customer
from resolvers.events.ingestion import facts_of
from resolvers.file_shares.histories import History
from resolvers.operations.context import Context
from schema.values.scalars import Long
from storage.changes.kinds import ChangeKind
from storage.changes.log import Actor, log_of
from storage.engine.connections import Connection
from storage.enums import ActorKind, Currency, Visibility
from storage.ledger.checking import rebuild
from storage.ledger.folding import add_to_books, fold
from storage.ledger.workspace_lock import lock_workspace
from storage.metrics.facts import row_of
from storage.metrics.packs.ledger import CELLS
from storage.persons.persons import PersonReference, persons_of
from storage.rows.rows import insert_complete_rows, new_row, table_of, update_rows, values_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.events.events import EventRow
from storage.tables.metrics.metrics import MetricFactRow
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)
from storage.tables.shares.shares import SharePriceRow, ShareRow
from storage.totals.events import EVENTS
from storage.totals.lists import LISTS

SESSIONS_AT_A_TIME = 2_000
DELTAS_AT_A_TIME = 10_000
CUSTOMERS_AT_A_TIME = 100
SESSIONS_FOR_A_CUSTOMER = 200
FEWEST_CUSTOMERS, MOST_CUSTOMERS = 20, 20_000
SEED = 20_260_131
_INGESTED = (ChangeKind.FILE_SHARE_SESSIONS_INGESTED, ChangeKind.EVENTS_INGESTED)

_customers, _events = table_of(CustomerRow), table_of(EventRow)


async def write_activity(ctx: Context, workspace_id: UUID, sessions: int, days: int) -> None:
    """Add this many sessions and events in the last `days`, 2,000 in each transaction.

    `ctx` is that of the workspace.
    """
    random, until, database = Random(SEED), datetime.now(UTC), ctx.services.database  # noqa: S311
    customers = min(max(sessions // SESSIONS_FOR_A_CUSTOMER, FEWEST_CUSTOMERS), MOST_CUSTOMERS)
    async with database.write() as connection:
        items = await _items(connection, workspace_id, random, until - timedelta(days=days))
    buyers: list[Buyer] = []
    while len(buyers) < customers:
        many = min(customers - len(buyers), CUSTOMERS_AT_A_TIME)
        numbers = range(len(buyers) + 1, len(buyers) + 1 + many)
        buyers += await _buyers(ctx, workspace_id, random, numbers, until - timedelta(days=days))
    activity = Activity(random, workspace_id, items, buyers, days, until)
    with counting() as progress:
        task = progress.add_task("Sessions", total=sessions)
        for histories, events in activity.batches(sessions, SESSIONS_AT_A_TIME):
            async with database.write() as connection:
                log_of(connection).declare(Actor(ActorKind.OPERATOR), _INGESTED)
                await _write(connection, workspace_id, histories, events)
            progress.advance(task, len(histories))
    async with database.write() as connection:
        await lock_workspace(connection, workspace_id, wait=True)
        while (await fold(connection, LISTS, workspace_id, DELTAS_AT_A_TIME)).deltas:
            pass
        await _date_arrivals(connection, workspace_id)
    await rebuild(database, workspace_id, [EVENTS])


async def _items(connection: Connection, workspace_id: UUID, random: Random, before: datetime) -> list[Item]:
    """What is for sale, as if for some weeks before that moment."""
    shares, prices = table_of(ShareRow), table_of(SharePriceRow)
    same = (prices.c.workspace_id == shares.c.workspace_id) & (prices.c.share_id == shares.c.id)
    amount = func.coalesce(prices.c.price_amount, prices.c.preset_amount).label("price_amount")
    statement = (
        select(shares.c.id, amount, prices.c.price_currency)
        .join_from(shares, prices, same & prices.c.is_archived.is_(False))
        .where(shares.c.workspace_id == workspace_id, shares.c.is_archived.is_(False))
        .where(shares.c.visibility == Visibility.PUBLIC)
        .order_by(shares.c.created_at, shares.c.id)
    )
    rows = (await connection.execute(statement)).all()
    for number, row in enumerate(rows):
        same = (shares.c.workspace_id == workspace_id) & (shares.c.id == row.id)
        created_at = before - timedelta(days=3 * (len(rows) - number))
        await update_rows(connection, ShareRow, same, created_at=created_at)
    return [
        Item(
            row.id,
            row.price_amount,
            Currency(row.price_currency or Currency.USD),
            Long(int(random.lognormvariate(17, 1))),
        )
        for row in rows
    ]


async def _buyers(
    ctx: Context, workspace_id: UUID, random: Random, numbers: range, before: datetime
) -> list[Buyer]:
    """Create customers with these numbers in one transaction, as if in the year before that moment."""
    references = []
    async with ctx.change() as inside:
        for number in numbers:
            id = f"buyer-{number}"
            data = {"name": _name(number), "email": f"{id}@example.com", "external_id": id}
            customer = await perform(inside, create_customer, data=data)
            references.append(PersonReference(customer.id, id))
            came_at = before - timedelta(days=365 * random.random() ** 2)
            # No buyer is younger than a purchase; an operation would have taken the present moment.
            await update_rows(
                inside.connection, CustomerRow, _customers.c.id == customer.id, created_at=came_at
            )
        persons = await persons_of(inside.connection, ctx.services.database, workspace_id, references)
    return [Buyer(person, random.choice(ZONES)) for person in persons]


async def _date_arrivals(connection: Connection, workspace_id: UUID) -> None:
    """Let the events of new customers have happened when these came."""
    same = (_customers.c.workspace_id == _events.c.workspace_id) & (_customers.c.id == _events.c.customer_id)
    came_at = select(_customers.c.created_at).where(same).scalar_subquery()
    arrivals = (_events.c.workspace_id == workspace_id) & (_events.c.name == "customer.created")
    await update_rows(connection, EventRow, arrivals, timestamp=came_at)


def _name(number: int) -> str:
    """A name for each number; the lists' lengths have no common divisor, so it takes long to come again."""
    return f"{FIRST_NAMES[number % len(FIRST_NAMES)]} {LAST_NAMES[7 * number % len(LAST_NAMES)]}"


async def _write(
    connection: Connection, workspace_id: UUID, histories: Sequence[History], events: Sequence[EventRow]
) -> None:
    """Insert complete rows: `insert_rows` would look for missing values, and the deltas of the facts."""
    rows_of_events = list(map(values_of, events))
    facts = [
        row_of(fact, uuid4())
        for some in (*(history.facts for history in histories), facts_of(rows_of_events))
        for fact in some
    ]
    downloads = [
        values_of(new_row(FileShareDownloadRow, **row)) for history in histories for row in history.downloads
    ]
    for model, rows in (
        (FileShareSessionRow, [values_of(history.session) for history in histories]),
        (FileShareDownloadRow, downloads),
        (FileSharePaymentRow, [row for history in histories for row in history.payments]),
        (FileShareRefundRow, [row for history in histories for row in history.refunds]),
        (EventRow, rows_of_events),
        (MetricFactRow, facts),
    ):
        await insert_complete_rows(connection, model, rows)
    await lock_workspace(connection, workspace_id, wait=True)
    await add_to_books(connection, CELLS, workspace_id, facts)
