"""The customers that activity is reported for, locked so that what is reported stays true."""

from collections.abc import Collection
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, func, or_, select

from storage.dialects.matching import among
from storage.engine.connections import Connection, SqliteThread
from storage.engine.statements.kept import Kept
from storage.rows.rows import read, table_of
from storage.tables.customers.customers import CustomerRow

_table = table_of(CustomerRow)


async def lock_customers(
    connection: Connection, workspace_id: UUID, ids: Collection[UUID], external_ids: Collection[str]
) -> list[CustomerRow]:
    """The customers with one of these ids or external ids, by id.

    They cannot be changed or deleted until the transaction ends.
    """
    sent: dict[str, list[Any]] = {"id": list(ids), "external_id": list(external_ids)}
    named = {name: values for name, values in sent.items() if values}
    if not isinstance(connection, SqliteThread):
        return await _read(connection, workspace_id, named)
    # Its one writer needs no locks in one order, and would read all customers for two kinds of names.
    customers: dict[UUID, CustomerRow] = {}
    for name, values in named.items():
        customers |= {row.id: row for row in await _read(connection, workspace_id, {name: values})}
    return sorted(customers.values(), key=lambda row: row.id)


async def _read(connection: Connection, workspace_id: UUID, named: dict[str, list[Any]]) -> list[CustomerRow]:
    rows = await connection.rows(_named(*named), {"home": workspace_id, **named})
    return [read(CustomerRow, row) for row in rows]


@cache
def _named(*names: str) -> Kept:
    """The customers with one of the values of one of these columns."""
    home = bindparam("home", type_=_table.c.workspace_id.type)
    named = or_(*(among(_table.c[name], name) for name in names))
    present = select(_table).where(_table.c.workspace_id == home, _table.c.deleted_at.is_(None), named)
    # An expression: to have the column itself in order, SQLite would read all customers.
    ordered = present.order_by(func.coalesce(_table.c.id, None))
    return Kept(ordered.with_for_update(read=True, key_share=True))
