"""What was measured of a tenant, read from the log itself; and the fold, brought to its end."""

from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlmodel import SQLModel

from storage.rows.rows import table_of
from storage.tables.events.event_counts import EventDeltaRow
from storage.tables.metrics.metric_cells import MetricDeltaRow, PersonMergeDeltaRow
from storage.tables.metrics.metrics import MetricFactRow
from storage.tables.workspaces.totals import ListTotalDeltaRow
from storage.upkeep.folding import Fold
from tests.support.servers.gateways import Gateway, Tenant

DELTAS = (MetricDeltaRow, PersonMergeDeltaRow, ListTotalDeltaRow, EventDeltaRow)


async def read_facts(gateway: Gateway, tenant: Tenant, *kinds: str) -> list[dict[str, Any]]:
    """The tenant's facts of these kinds, the earliest first."""
    table = table_of(MetricFactRow)
    wanted = select(table).where(table.c.workspace_id == UUID(tenant.id), table.c.kind.in_(kinds))
    async with gateway.database.read() as connection:
        found = await connection.execute(wanted.order_by(table.c.moment))
        return [dict(row) for row in found.mappings()]


async def waiting(gateway: Gateway, home: UUID, model: type[SQLModel] = MetricDeltaRow) -> int:
    """How many rows of a workspace the fold has not come to."""
    table = table_of(model)
    async with gateway.database.read() as connection:
        own = select(func.count()).select_from(table).where(table.c.workspace_id == home)
        return (await connection.execute(own)).scalar_one()


async def fold_all(gateway: Gateway, home: UUID) -> None:
    fold = Fold(gateway.database)
    while any([await waiting(gateway, home, model) for model in DELTAS]):
        await fold.run()
