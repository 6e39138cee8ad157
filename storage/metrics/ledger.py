"""The ledger of metrics: deltas are copies of facts, which the fold adds to cells."""

from sqlalchemy import FromClause, select

from storage.ledger.books import Ledger, Workspaces
from storage.metrics.cells.cells import ACTIVITY_CELLS, MONEY_CELLS
from storage.metrics.cells.persons import PersonCells
from storage.metrics.packs.book import Packs
from storage.tables.base import table_of
from storage.tables.metrics.metric_cells import MetricDeltaRow
from storage.tables.metrics.metrics import MetricFactRow


def _facts(workspaces: Workspaces) -> FromClause:
    table = table_of(MetricFactRow)
    return select(table).where(workspaces(table.c.workspace_id)).subquery()


CELLS = Ledger(table_of(MetricDeltaRow), _facts, (Packs(), ACTIVITY_CELLS, MONEY_CELLS, PersonCells()))
