"""Removing the rows of a deleted workspace, a bounded piece at a time.

What belongs to a workspace is derived from the tables: rows with its `workspace_id`, and rows outside
workspaces that refer to such rows, like the documents of its OAuth clients. A new table needs nothing here.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Table, Uuid, bindparam, delete, literal, select, tuple_, update

from storage.engine.connections import Connection
from storage.tables.registry import METADATA

OWNER = "workspace_id"
_OWN = bindparam("own_workspace_id", type_=Uuid())


def _ways(tables: Iterable[Table]) -> dict[Table, list[ColumnElement[bool]]]:
    """How each table's rows belong to a workspace: one condition for each way, so that each has its index."""
    ways: dict[Table, list[ColumnElement[bool]]] = {}
    for table in tables:
        conditions = [table.c[OWNER] == _OWN] if OWNER in table.c else []
        if OWNER not in table.primary_key.columns:
            conditions += _through_owners(table, ways)
        if conditions:
            ways[table] = conditions
    return ways


def _through_owners(
    table: Table, ways: Mapping[Table, list[ColumnElement[bool]]]
) -> Iterator[ColumnElement[bool]]:
    """The conditions that a row of `table` refers to a row that belongs to the workspace."""
    for key in sorted(table.foreign_key_constraints, key=lambda key: str(key.name)):
        (element,) = key.elements
        for condition in ways.get(key.referred_table, ()):
            yield element.parent.in_(select(element.column).where(condition))


# Rows that refer to others come before these.
WAYS = dict(reversed(_ways(METADATA.sorted_tables).items()))


async def remove_rows(table: Table, connection: Connection, workspace_id: UUID, limit: int) -> int:
    """Delete at most some `limit` of the workspace's rows in `table`; returns how many.

    If they are fewer than `limit`, none is left. All tables that refer to this one must have none left.
    Each statement names one workspace.
    """
    own = {_OWN.key: workspace_id}
    removed = await _release(connection, table, own, limit)
    for condition in WAYS[table]:
        if removed < limit:
            some = await first_rows(connection, table, condition, limit - removed, own)
            removed += (await connection.execute(delete(table).where(some), own)).rowcount
    return removed


async def first_rows(
    connection: Connection,
    table: Table,
    condition: ColumnElement[bool],
    limit: int,
    values: Mapping[str, Any],
) -> ColumnElement[bool]:
    """The condition on at most `limit` of the rows that meet `condition`, whose parameters are `values`.

    Of a key of several columns they are a range, which both databases find by the key's index, however many
    rows meet the condition.
    """
    key = [column for column in table.primary_key.columns if column.name != OWNER]
    if OWNER not in table.primary_key.columns and len(key) == 1:
        return key[0].in_(select(key[0]).where(condition).limit(limit))
    if not key:
        return condition
    last = select(*key).where(condition).order_by(*key).offset(limit - 1).limit(1)
    row = (await connection.execute(last, values)).first()
    if row is None:
        return condition
    end = [literal(value, column.type) for value, column in zip(row, key, strict=True)]
    return condition & (tuple_(*key) <= tuple_(*end))


async def _release(connection: Connection, table: Table, own: Mapping[str, UUID], limit: int) -> int:
    """Clear references between rows of the table, which would decide the order of their deletion."""
    released = 0
    for reference in table.foreign_key_constraints:
        if reference.referred_table is table:
            (column,) = (column for column in reference.columns if column.name != OWNER)
            condition = table.c[OWNER] == _OWN
            some = select(table.c.id).where(condition, column.is_not(None)).limit(limit - released)
            clearing = update(table).where(condition, table.c.id.in_(some)).values({column: None})
            released += (await connection.execute(clearing, own)).rowcount
    return released
