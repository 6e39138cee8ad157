"""Folding: moves the deltas of facts into the cells."""

from collections.abc import Collection, Mapping
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import Uuid, bindparam, delete, select

from storage.engine.connections import Connection, SqliteThread
from storage.engine.kept_statements import Kept
from storage.metrics.cells.blocks import forget_packs
from storage.metrics.cells.cells import ACTIVITY, MONEY, Cells, LoggedFact
from storage.metrics.cells.merges import merges_of
from storage.metrics.cells.person_cells import read_bitmaps, write_bitmaps
from storage.metrics.cells.tiling import CellKey
from storage.rows.rows import table_of
from storage.rows.upserts import add, upsert_all
from storage.tables.metrics.metric_cells import MetricDeltaRow

_deltas = table_of(MetricDeltaRow)
_COLUMNS = [column for column in _deltas.c if not column.primary_key]
_OF_HOME = _deltas.c.workspace_id == bindparam("home", type_=Uuid())
_SOME = select(_deltas.c.id).where(_OF_HOME).limit(bindparam("most"))

# PostgreSQL deletes some deltas of a workspace and returns them.
_TAKE = Kept(delete(_deltas).where(_OF_HOME, _deltas.c.id.in_(_SOME)).returning(*_COLUMNS))
# SQLite, which has one writer, reads them, and deletes as many together with a later statement: RETURNING
# takes twice as long.
_FIRST = Kept(select(*_COLUMNS).where(_OF_HOME).order_by(_deltas.c.id).limit(bindparam("most")))
_LAST = select(_deltas.c.id).where(_OF_HOME).order_by(_deltas.c.id).limit(1).offset(bindparam("before"))
_DELETE_FIRST = Kept(delete(_deltas).where(_OF_HOME, _deltas.c.id <= _LAST.scalar_subquery()))


async def fold_deltas(connection: Connection, workspace_id: UUID, most: int) -> int:
    """Move up to `most` deltas of a workspace, whose cells are locked, into its cells; returns the number."""
    facts = await _take(connection, workspace_id, most)
    await add_to_cells(connection, workspace_id, facts)
    return len(facts)


async def _take(connection: Connection, workspace_id: UUID, most: int) -> list[LoggedFact]:
    """Delete up to `most` deltas of a workspace and return them."""
    some = _FIRST if isinstance(connection, SqliteThread) else _TAKE
    rows = await connection.fetch(some, {"home": workspace_id, "most": most})
    if isinstance(connection, SqliteThread) and rows:
        deleting = _DELETE_FIRST.on(connection.dialect)
        values = {"home": workspace_id, "before": len(rows) - 1}
        connection.put_off(deleting.text, [deleting.arguments(values)])
    names = [column.name for column in _COLUMNS]
    return [dict(zip(names, row, strict=True)) for row in some.on(connection.dialect).converted(rows)]


async def add_to_cells(connection: Connection, workspace_id: UUID, facts: Collection[LoggedFact]) -> None:
    """Add rows of the log to the cells of their workspace, whose cells are locked."""
    await forget_packs(connection, workspace_id, (fact["moment"] for fact in facts))
    cells = Cells(workspace_id)
    cells.add(facts)
    for table in (ACTIVITY, MONEY):
        await upsert_all(connection, table, cells.rows(table), add)
    if cells.numbers:
        merges = await merges_of(connection, workspace_id, cells.numbers)
        await _add_persons(connection, workspace_id, cells.persons(merges))


async def _add_persons(connection: Connection, workspace_id: UUID, added: Mapping[CellKey, BitMap]) -> None:
    bitmaps = await read_bitmaps(connection, workspace_id, list(added))
    for key, persons in added.items():
        bitmaps[key] = bitmaps[key] | persons if key in bitmaps else persons
    await write_bitmaps(connection, workspace_id, bitmaps)
