"""What was measured of a tenant, read from the log itself."""

from typing import Any
from uuid import UUID

from sqlalchemy import select

from storage.rows import table_of
from storage.tables.metrics import MetricFactRow
from tests.conftest import Gateway, Tenant


async def read_facts(gateway: Gateway, tenant: Tenant, *kinds: str) -> list[dict[str, Any]]:
    """The tenant's facts of these kinds, the earliest first."""
    table = table_of(MetricFactRow)
    wanted = select(table).where(table.c.workspace_id == UUID(tenant.id), table.c.kind.in_(kinds))
    async with gateway.database.read() as connection:
        found = await connection.execute(wanted.order_by(table.c.moment))
        return [dict(row) for row in found.mappings()]
