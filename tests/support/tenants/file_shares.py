"""What the tests of file-share sessions have in common: inputs and the log of facts."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from storage.rows.rows import table_of
from storage.tables.metrics.metrics import MetricFactRow
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)

START = "2026-01-31T09:00:00.000000Z"
FREE = {"file_size_bytes": 2**40, "created_at": START}
PRICED = FREE | {"price_amount": 1500, "price_currency": "eur"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TABLES = (FileShareSessionRow, FileShareDownloadRow, FileSharePaymentRow, FileShareRefundRow)
COLUMNS = ("kind", "moment", "share_id", "person", "currency", "count", "bytes", "amount", "fee", "parts")


def at(minute: int) -> str:
    """A moment in the hour after `START`."""
    return f"2026-01-31T09:{minute:02}:00.000000Z"


PAID = {"amount": 1500, "currency": "eur", "platform_fee": 75, "at": at(5)}


async def facts_of(gateway: Any, tenant: Any) -> Counter[tuple[Any, ...]]:
    """All facts of a workspace with everything they say."""
    table = table_of(MetricFactRow)
    wanted = select(*(table.c[name] for name in COLUMNS)).where(table.c.workspace_id == UUID(tenant.id))
    async with gateway.database.read() as connection:
        return Counter(tuple(row) for row in await connection.execute(wanted))


async def counts_of(gateway: Any, tenant: Any) -> Counter[tuple[str, str]]:
    """The sums of `count` by kind and moment, without those that add up to nothing."""
    sums: Counter[tuple[str, str]] = Counter()
    for fact, times in (await facts_of(gateway, tenant)).items():
        named = dict(zip(COLUMNS, fact, strict=True))
        moment = EPOCH + timedelta(microseconds=named["moment"])
        sums[named["kind"], f"{moment:%d %H:%M}"] += named["count"] * times
    return Counter({key: total for key, total in sums.items() if total})


async def ingest(surface: Any, *sessions: Any) -> Any:
    """Send a batch of histories; gives the counts of the answer."""
    answer = await surface.ingest_file_share_sessions(data={"sessions": list(sessions)})
    assert len(answer.pop("ids")) == len(sessions)
    return answer


async def ids_of(surface: Any, *sessions: Any) -> Any:
    """Send a batch of histories; gives their ids."""
    return (await surface.ingest_file_share_sessions(data={"sessions": list(sessions)}))["ids"]


async def rows_of(gateway: Any, tenant: Any) -> list[int]:
    """How many rows the workspace has in each table of sessions."""
    counts = []
    async with gateway.database.read() as connection:
        for table in map(table_of, TABLES):
            wanted = select(func.count()).where(table.c.workspace_id == UUID(tenant.id))
            counts.append((await connection.execute(wanted)).scalar_one())
    return counts
