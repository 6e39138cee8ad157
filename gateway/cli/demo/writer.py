"""Writes a demo workspace's customers and activity in bulk, with a progress bar."""

from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from uuid import UUID

from sqlalchemy import select
from sqlmodel import SQLModel

from gateway.cli.demo.activity import ZONES, Activity, Batch, Buyer, Item
from gateway.cli.kit.progress import counting
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.enums import EventSource, MemberRole
from storage.metrics.cells.fold import add_to_cells
from storage.metrics.facts import row_of
from storage.persons.numbers import new_persons
from storage.rows.rows import Values, insert_complete_rows, insert_rows, table_of
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.events.events import EventRow
from storage.tables.metrics.metrics import ExternalPersonRow, MetricFactRow
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)
from storage.tables.shares.shares import SharePriceRow, ShareRow
from storage.totals.fold import fold_totals
from storage.workspaces.workspace_lock import lock_workspace

SESSIONS_AT_A_TIME = 2_000
DELTAS_AT_A_TIME = 10_000
SESSIONS_FOR_A_CUSTOMER = 200
FEWEST_CUSTOMERS, MOST_CUSTOMERS = 20, 20_000
SEED = 20_260_131


async def write_activity(database: Database, workspace_id: UUID, sessions: int, days: int) -> None:
    """Add this many sessions and events in the last `days` to the workspace, 2,000 in each transaction."""
    random = Random(SEED)  # noqa: S311
    until = datetime.now(UTC)
    customer_count = min(max(sessions // SESSIONS_FOR_A_CUSTOMER, FEWEST_CUSTOMERS), MOST_CUSTOMERS)
    async with database.write() as connection:
        items = await _items(connection, workspace_id, random)
        customers = await _make_customers(connection, database, workspace_id, customer_count)
    buyers = [Buyer(customer, random.choice(ZONES), random.random() < 0.25) for customer in customers]
    activity = Activity(random, workspace_id, items, buyers, days, until)
    with counting() as progress:
        task = progress.add_task("Sessions", total=sessions)
        for batch in activity.batches(sessions, SESSIONS_AT_A_TIME):
            async with database.write() as connection:
                await _write(connection, activity, batch)
            progress.advance(task, len(batch.sessions))
    async with database.write() as connection:
        await lock_workspace(connection, workspace_id, wait=True)
        while await fold_totals(connection, workspace_id, DELTAS_AT_A_TIME):
            pass


async def _items(connection: Connection, workspace_id: UUID, random: Random) -> list[Item]:
    shares, prices = table_of(ShareRow), table_of(SharePriceRow)
    same = (prices.c.workspace_id == shares.c.workspace_id) & (prices.c.share_id == shares.c.id)
    statement = (
        select(shares.c.id, prices.c.price_amount)
        .join_from(shares, prices, same & prices.c.is_archived.is_(False))
        .where(shares.c.workspace_id == workspace_id, shares.c.is_archived.is_(False))
        .order_by(shares.c.name_folded)
    )
    rows = (await connection.execute(statement)).all()
    return [Item(row.id, row.price_amount, int(random.lognormvariate(17, 1))) for row in rows]


async def _make_customers(
    connection: Connection, database: Database, workspace_id: UUID, count: int
) -> list[CustomerRow]:
    """Create customers with their owners, events and persons."""
    persons = await new_persons(connection, database, workspace_id, count)
    customers = await insert_rows(
        connection,
        CustomerRow,
        [
            {
                "workspace_id": workspace_id,
                "email": f"buyer-{person}@example.com",
                "external_id": f"buyer-{person}",
                "name": f"Buyer {person}",
                "person": person,
            }
            for person in persons
        ],
    )
    common = [{"workspace_id": workspace_id, "customer_id": row.id} for row in customers]
    pairs = list(zip(common, customers, strict=True))
    owners = [
        {**keys, "email": row.email, "name": row.name, "role": MemberRole.OWNER.value} for keys, row in pairs
    ]
    await insert_rows(connection, MemberRow, owners)
    await insert_rows(connection, EventRow, [{**keys, **_created_event(row)} for keys, row in pairs])
    pointers = [
        {"workspace_id": workspace_id, "external_id": row.external_id, "person": row.person}
        for row in customers
    ]
    await insert_rows(connection, ExternalPersonRow, pointers)
    return customers


def _created_event(customer: CustomerRow) -> Values:
    return {
        "source": EventSource.SYSTEM.value,
        "name": "customer.created",
        "external_customer_id": customer.external_id,
        "metadata": {
            "customer_id": str(customer.id),
            "customer_email": customer.email,
            "customer_name": customer.name,
            "customer_external_id": customer.external_id,
        },
    }


async def _write(connection: Connection, activity: Activity, batch: Batch) -> None:
    facts = [row_of(fact, activity.new_id()) for fact in batch.facts]
    tables: Sequence[tuple[type[SQLModel], Sequence[Values]]] = (
        (FileShareSessionRow, batch.sessions),
        (FileShareDownloadRow, batch.downloads),
        (FileSharePaymentRow, batch.payments),
        (FileShareRefundRow, batch.refunds),
        (EventRow, batch.events),
        (MetricFactRow, facts),
    )
    for model, rows in tables:
        # `new_row` has filled in the defaults, so `insert_rows` need not do so for millions of rows.
        await insert_complete_rows(connection, model, rows)
    await lock_workspace(connection, activity.workspace_id, wait=True)
    await add_to_cells(connection, activity.workspace_id, facts)
