"""Folding: moves the deltas of facts into the cells."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from uuid import UUID

from pyroaring import BitMap
from sqlalchemy import Table, bindparam, delete, select

from storage.connections import Connection
from storage.dialects.upsert import Upsert, upsert
from storage.metrics.cells.cells import ACTIVITY, MONEY, Cells, LoggedFact
from storage.metrics.cells.merges import merges_of
from storage.metrics.cells.person_cells import read_bitmaps, write_bitmaps
from storage.metrics.cells.tiling import CellKey
from storage.rows import Values, table_of
from storage.tables.metric_cells import MetricDeltaRow

_deltas = table_of(MetricDeltaRow)

# Deletes some deltas of a workspace and returns them.
_OF_HOME = _deltas.c.workspace_id == bindparam("home")
_SOME = select(_deltas.c.id).where(_OF_HOME).limit(bindparam("most"))
_TAKE = delete(_deltas).where(_OF_HOME, _deltas.c.id.in_(_SOME)).returning(_deltas)


async def fold_deltas(connection: Connection, workspace_id: UUID, most: int) -> int:
    """Move up to `most` deltas of a workspace, whose cells are locked, into its cells; returns the number."""
    deltas = await connection.execute(_TAKE, {"home": workspace_id, "most": most})
    facts = deltas.mappings().all()
    await add_to_cells(connection, workspace_id, facts)
    return len(facts)


async def add_to_cells(connection: Connection, workspace_id: UUID, facts: Iterable[LoggedFact]) -> None:
    """Add rows of the log to the cells of their workspace, whose cells are locked."""
    cells = Cells(workspace_id)
    cells.add(facts)
    for table in (ACTIVITY, MONEY):
        await _add_cells(connection, table, cells.rows(table))
    if cells.numbers:
        merges = await merges_of(connection, workspace_id, cells.numbers)
        await _add_persons(connection, workspace_id, cells.persons(merges))


async def _add_cells(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    if rows:
        await connection.execute(_adding(connection.dialect.name, table), rows)


@cache
def _adding(dialect: str, table: Table) -> Upsert:
    statement = upsert(dialect, table)
    keys = list(table.primary_key.columns)
    added = {
        column.name: column + statement.excluded[column.name] for column in table.c if column not in keys
    }
    return statement.on_conflict_do_update(index_elements=keys, set_=added)


async def _add_persons(connection: Connection, workspace_id: UUID, added: Mapping[CellKey, BitMap]) -> None:
    bitmaps = await read_bitmaps(connection, workspace_id, list(added))
    for key, persons in added.items():
        bitmaps[key] = bitmaps[key] | persons if key in bitmaps else persons
    await write_bitmaps(connection, workspace_id, bitmaps)
