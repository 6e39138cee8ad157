"""A late page skips rows in an index alone, and gives the rows that a walk through the list gives."""

from uuid import uuid4

import pytest
from sqlalchemy import select, text

from storage.rows.ordering import SortKey, by_keys, total_order
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.events.events import EventRow
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)
from storage.tables.workspaces.deletions import DeletionRow

EVENTS, CUSTOMERS, MEMBERS = table_of(EventRow), table_of(CustomerRow), table_of(MemberRow)
SESSIONS, PAYMENTS = table_of(FileShareSessionRow), table_of(FileSharePaymentRow)
DOWNLOADS, REFUNDS = table_of(FileShareDownloadRow), table_of(FileShareRefundRow)
DELETIONS = table_of(DeletionRow)
LISTS = [
    (EVENTS, "timestamp", [], "ix_events_timestamp"),
    (EVENTS, "timestamp", [EVENTS.c.name == "opened"], "ix_events_name"),
    (EVENTS, "timestamp", [EVENTS.c.customer_id == uuid4()], "ix_events_customer"),
    (CUSTOMERS, "created_at", [CUSTOMERS.c.deleted_at.is_(None)], "ix_customers_created_at"),
    (MEMBERS, "created_at", [MEMBERS.c.deleted_at.is_(None)], "ix_members_created_at"),
    (SESSIONS, "created_at", [], "ix_file_share_sessions_created_at"),
    (SESSIONS, "created_at", [SESSIONS.c.share_id == uuid4()], "ix_file_share_sessions_share"),
    (SESSIONS, "changed_at", [], "ix_file_share_sessions_changed_at"),
    (EVENTS, "created_at", [], "ix_events_created_at"),
    (EVENTS, "timestamp", [EVENTS.c.share_id == uuid4()], "ix_events_share"),
    (CUSTOMERS, "changed_at", [CUSTOMERS.c.deleted_at.is_(None)], "ix_customers_changed_at"),
    (PAYMENTS, "changed_at", [], "ix_file_share_payments_changed_at"),
    (PAYMENTS, "at", [PAYMENTS.c.customer_id == uuid4()], "ix_file_share_payments_customer"),
    (DOWNLOADS, "at", [DOWNLOADS.c.file_share_session_id == uuid4()], "ix_file_share_downloads_session"),
    (REFUNDS, "created_at", [], "ix_file_share_refunds_created_at"),
    (DELETIONS, "created_at", [], "ix_deletions_created_at"),
]


@pytest.mark.parametrize(("table", "key", "conditions", "index"), LISTS, ids=lambda value: str(value)[:40])
async def test_the_keys_of_a_late_page_come_from_an_index_alone(gateway, table, key, conditions, index):
    order = total_order([SortKey(table.c[key], descending=True, is_nullable=False)], table.c.id)
    rows = select(table).where(table.c.workspace_id == uuid4(), *conditions)
    page = by_keys(rows.order_by(*(each.order for each in order)).limit(10).offset(1_000), table, order, None)
    async with gateway.database.snapshot() as connection:
        compiled = page.compile(
            dialect=connection.dialect, compile_kwargs={"literal_binds": True, "render_postcompile": True}
        )
        if gateway.database.is_sqlite:
            plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}")).all()
            assert any(f"USING COVERING INDEX {index} " in step.detail for step in plan), plan
        elif index.endswith(("_timestamp", "_created_at", "_changed_at")):
            # The planner, which may choose another index for a few rows, is only asked where there is one.
            for way in ("seqscan", "bitmapscan", "sort", "incremental_sort"):
                await connection.execute(text(f"SET LOCAL enable_{way} = off"))
            plan = (await connection.execute(text(f"EXPLAIN {compiled}"))).scalars().all()
            assert any(f"Index Only Scan Backward using {index} " in step for step in plan), plan


async def test_pages_one_after_another_are_the_list(rest):
    names = [f"page.{number % 3}" for number in range(25)]
    await rest.ingest_events(data={"events": [{"name": name} for name in names]})
    for filters in ({}, {"name": ["page.1", "page.2"]}, {"metadata": []}):
        whole = (await rest.list_events(**filters, limit=100))["data"]
        pages = [
            event["id"]
            for page in range(1, 6)
            for event in (await rest.list_events(**filters, limit=7, page=page))["data"]
        ]
        assert pages == [event["id"] for event in whole]
