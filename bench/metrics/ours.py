"""The product's own ways: where the resolver reads metrics from, the rebuild of the cells, and the fold."""

from uuid import UUID

from sqlalchemy import func, insert, select

from gateway.background import BackgroundTask, running
from storage.database import Database
from storage.metrics.cells import ACTIVITY, MONEY, Cells
from storage.metrics.cover import Grain
from storage.metrics.fold import Fold
from storage.metrics.person_cells import write_bitmaps
from storage.rows import table_of
from storage.tables.metrics import MetricFactRow

_facts = table_of(MetricFactRow)


async def rebuild(database: Database, workspace_id: UUID) -> None:
    """Make the cells of a workspace that has none out of its log."""
    own = _facts.c.workspace_id == workspace_id
    async with database.write() as connection:
        ends = select(func.min(_facts.c.moment), func.max(_facts.c.moment)).where(own)
        first, last = (await connection.execute(ends)).one()
        for begins in range(Grain.DAY.begins(first), last + 1, Grain.DAY.microseconds):
            ends = _facts.c.moment < begins + Grain.DAY.microseconds
            facts = await connection.execute(select(_facts).where(own, _facts.c.moment >= begins, ends))
            cells = Cells(workspace_id)
            cells.add(facts)
            for table in (ACTIVITY, MONEY):
                rows = cells.rows(table)
                if rows:
                    await connection.execute(insert(table), rows)
            await write_bitmaps(connection, workspace_id, cells.persons({}))


async def fold_all(database: Database) -> None:
    fold = Fold(database)
    while await fold.run():
        pass


def folding(database: Database):
    """Fold as the gateway does beside requests, until the block is left."""
    return running([BackgroundTask("fold", Fold(database).run, every=0.5)])
