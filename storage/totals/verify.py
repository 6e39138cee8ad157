"""Counting the rows of a workspace again, to compare its totals with them or to write them anew."""

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Select,
    delete,
    except_,
    func,
    insert,
    literal,
    select,
    union,
    union_all,
)
from sqlmodel import SQLModel

from storage.dialects.periods import Period, begins
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.tables.base import table_of
from storage.tables.events.events import EventRow
from storage.tables.registry import COUNTED_MODELS
from storage.totals.periods import Workspaces
from storage.totals.reading import as_text, totals
from storage.totals.tallies import ALL_DELTAS, LIST_TOTALS, TALLIES, Tally, list_name
from storage.workspaces.workspace_lock import rebuild_in_one_snapshot


class Verification(NamedTuple):
    """How many totals a workspace has, and how many of them differ from its rows."""

    totals: int
    differences: int


async def verify_totals(database: Database, workspace_id: UUID) -> Verification:
    """Compare the totals, with the deltas that wait, with the rows, in one snapshot."""
    async with database.snapshot() as connection:
        return await compare_totals(connection, lambda column: column == workspace_id)


async def compare_totals(connection: Connection, workspaces: Workspaces) -> Verification:
    """The same for several workspaces, in the snapshot of `connection`."""
    many = differences = 0
    for tally in TALLIES:
        kept = totals(tally, workspaces)
        many += await _number(connection, kept)
        differences += await _number(connection, _differing(tally, kept, _counted(tally, workspaces)))
    return Verification(many, differences)


async def rebuild_totals(database: Database, workspace_id: UUID) -> int:
    """Count a workspace's rows in one transaction and return the number of totals.

    Rows may be written meanwhile: their deltas are left to the fold.
    """
    return await rebuild_in_one_snapshot(database, workspace_id, _rebuild)


async def _rebuild(connection: Connection, workspace_id: UUID) -> int:
    def here(column: ColumnElement[UUID]) -> ColumnElement[bool]:
        return column == workspace_id

    many = 0
    for deltas in ALL_DELTAS:
        await connection.execute(delete(deltas.table).where(here(deltas.table.c.workspace_id)))
    for tally in TALLIES:
        await connection.execute(delete(tally.totals).where(here(tally.totals.c.workspace_id)))
        counted = _counted(tally, here)
        names = [column.name for column in counted.selected_columns]
        await connection.execute(insert(tally.totals).from_select(names, counted))
        many += await _number(connection, totals(tally, here))
    return many


def _counted(tally: Tally, workspaces: Workspaces) -> Select[Any]:
    """The tally's totals, computed from the rows."""
    rows = _lists_of(workspaces) if tally is LIST_TOTALS else _hours_of(workspaces)
    return tally.combined(tally.spread(rows.cte("counted")))


def _lists_of(workspaces: Workspaces) -> CompoundSelect[Any]:
    """Rows like those of the deltas of lists."""
    groups = [
        _group(workspaces, model, [table_of(model).c[name] for name in names])
        for model in COUNTED_MODELS
        for names in model.counted
    ]
    return union_all(*groups)


def _group(workspaces: Workspaces, model: type[SQLModel], columns: list[ColumnElement[Any]]) -> Select[Any]:
    table = table_of(model)
    name = literal(list_name(model, [column.name for column in columns])).label("list")
    present = [column.is_not(None) for column in columns]
    if "deleted_at" in table.c:
        present.append(table.c.deleted_at.is_(None))
    key = (table.c.workspace_id, name, as_text(columns).label("value"))
    rows = select(*key, func.count().label("total")).where(workspaces(table.c.workspace_id), *present)
    return rows.group_by(table.c.workspace_id, *columns)


def _hours_of(workspaces: Workspaces) -> Select[Any]:
    """Rows like those of the deltas of events."""
    table = table_of(EventRow)
    hour = begins(Period.HOUR, table.c.timestamp)
    return (
        select(
            table.c.workspace_id,
            table.c.name,
            hour.label("hour"),
            func.count().label("occurrences"),
            func.min(table.c.source).label("source"),
            func.min(table.c.timestamp).label("first_seen"),
            func.max(table.c.timestamp).label("last_seen"),
        )
        .where(workspaces(table.c.workspace_id))
        .group_by(table.c.workspace_id, table.c.name, hour)
    )


def _differing(tally: Tally, kept: Select[Any], counted: Select[Any]) -> Any:
    """The keys of totals that one of the queries gives and the other does not."""
    sides = [
        except_(select(*one.subquery().c), select(*other.subquery().c)).subquery()
        for one, other in ((kept, counted), (counted, kept))
    ]
    return union(*(select(*(side.c[name] for name in ("workspace_id", *tally.keys))) for side in sides))


async def _number(connection: Connection, rows: Any) -> int:
    number: int = (await connection.execute(select(func.count()).select_from(rows.subquery()))).scalar_one()
    return number
