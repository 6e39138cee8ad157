"""The blocks of time that packs hold, and forgetting the packs of which a fold changes the cells."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import Delete, delete, select

from storage.clock import now
from storage.dialects.number_lists import numbers_in
from storage.engine.connections import Connection
from storage.metrics.cells.tiling import Grain
from storage.metrics.facts import microseconds
from storage.rows.rows import table_of
from storage.tables.metrics.metric_packs import MetricPackRow

DAYS = 32
# 1970 began with a block, and so did the time before all facts.
BLOCK = DAYS * Grain.DAY.microseconds

_packs = table_of(MetricPackRow)


def block_of(moment: int) -> int:
    """The beginning of the block that contains a moment."""
    return moment - moment % BLOCK


async def forget_packs(connection: Connection, workspace_id: UUID, moments: Iterable[int]) -> None:
    """Forget the packs that facts at these moments outdate, in the transaction that adds them to cells.

    Only time that is over is packed, so live facts take no statement.
    """
    running = block_of(microseconds(now()))
    outdated = {block_of(moment) for moment in moments if moment < running}
    if outdated:
        await connection.execute(_forgetting(connection.dialect.name, workspace_id, outdated))


def _forgetting(dialect: str, workspace_id: UUID, blocks: Iterable[int]) -> Delete:
    these = select(numbers_in(dialect, sorted(blocks)).c.value)
    return delete(_packs).where(_packs.c.workspace_id == workspace_id, _packs.c.at.in_(these))
