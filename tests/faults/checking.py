"""What the database has of what was tried: each write, its facts and its change in the log once."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from storage.changes.kinds import ChangeKind
from storage.engine.database import Database
from storage.enums import FactKind
from storage.rows.rows import table_of
from storage.tables.changes import ChangeRow
from storage.tables.customers.customers import CustomerRow
from storage.tables.events.events import EventRow
from storage.tables.metrics.metrics import MetricFactRow
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareSessionRow,
)
from storage.tables.shares.shares import ShareRow
from tests.faults.site import Site
from tests.faults.writing import Record

# Where the ids of each kind of write are found again.
_PLACES: Mapping[str, tuple[Any, str]] = {
    "customers": (CustomerRow, "external_id"),
    "events": (EventRow, "external_id"),
    "shares": (ShareRow, "name"),
    "sessions": (FileShareSessionRow, "external_id"),
    "payments": (FileSharePaymentRow, "external_id"),
    "downloads": (FileShareDownloadRow, "file_share_session_id"),
}
# The fact that each row of a kind must have, once.
_FACTS = {
    "events": FactKind.EVENT,
    "sessions": FactKind.PRICED_SESSION,
    "payments": FactKind.PAYMENT,
    "downloads": FactKind.DOWNLOAD,
}
# The change that each row of a kind must have, once; events have one for each batch, with their number.
_CHANGES = {
    "customers": ChangeKind.CUSTOMER_CREATED,
    "events": ChangeKind.EVENTS_INGESTED,
    "shares": ChangeKind.SHARE_CREATED,
    "sessions": ChangeKind.FILE_SHARE_SESSION_CREATED,
    "payments": ChangeKind.FILE_SHARE_SESSION_PAID,
    "downloads": ChangeKind.FILE_SHARE_SESSION_DOWNLOADED,
}


async def compare(site: Site, record: Record) -> tuple[int, int]:
    """How many acknowledged writes are lost, and how many of those tried are there more than once.

    A fact or a change too many counts as a duplicate, one too few as a loss.
    """
    lost = duplicated = 0
    stored = await _stored(site)
    facts, changes = await _facts(site), await _changes(site)
    for kind, counts in stored.items():
        lost += sum(not counts[id] for id in record.acknowledged[kind])
        duplicated += sum(max(0, counts[id] - 1) for id in record.tried[kind])
        rows = sum(counts.values())
        surpluses = [changes[_CHANGES[kind]] - rows]
        if kind in _FACTS:
            surpluses.append(facts[_FACTS[kind].value] - rows)
        lost += sum(max(0, -surplus) for surplus in surpluses)
        duplicated += sum(max(0, surplus) for surplus in surpluses)
    return lost, duplicated


def verify(site: Site) -> int:
    """How many cells of metrics and totals of lists differ from the rows."""
    differences = 0
    for topic in ("metrics", "totals"):
        # It ends with status 1 if anything differs.
        outcome = site.command().run(topic, "verify", "--json")
        differences += json.loads(outcome.stdout.splitlines()[0])["differences"]
    return differences


async def _stored(site: Site) -> dict[str, Counter[str]]:
    home, stored = UUID(site.tenant.id), {}
    database = Database(site.database_url)
    try:
        async with database.read() as connection:
            for kind, (model, name) in _PLACES.items():
                table = table_of(model)
                rows = select(table.c[name]).where(table.c.workspace_id == home, table.c[name].is_not(None))
                stored[kind] = Counter(str(value) for (value,) in await connection.execute(rows))
    finally:
        await database.close()
    return stored


async def _facts(site: Site) -> Counter[str]:
    table = table_of(MetricFactRow)
    return await _sums(site, table.c.kind, func.sum(table.c.count), table.c.workspace_id)


async def _changes(site: Site) -> Counter[str]:
    table = table_of(ChangeRow)
    return await _sums(site, table.c.kind, func.sum(func.coalesce(table.c.count, 1)), table.c.workspace_id)


async def _sums(site: Site, kind: Any, many: Any, home: Any) -> Counter[str]:
    """A number for each kind of row of the workspace."""
    database = Database(site.database_url)
    try:
        async with database.read() as connection:
            rows = select(kind, many).where(home == UUID(site.tenant.id)).group_by(kind)
            return Counter({kind: int(many) for kind, many in await connection.execute(rows)})
    finally:
        await database.close()
