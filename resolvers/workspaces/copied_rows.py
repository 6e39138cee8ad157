"""Rows that a copy of a workspace takes over: read while there is room, inserted with new ids."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, select
from sqlmodel import SQLModel

from schema.errors import NotPermitted
from storage.engine.connections import Connection
from storage.rows.rows import Model, Values, every_of, insert_rows, table_of, values_of

# Writing a statement of a thousand rows takes a process some 20 ms, in which it answers nobody else.
MOST_AT_ONCE = 1_000
# What each row has of its own.
_OWN = frozenset({"workspace_id", "created_at", "modified_at", "changed_at"})
# Columns with the ids of other rows of the workspace.
_REFERENCES = (
    "id",
    *("share_id", "custom_field_id", "customer_id", "member_id"),
    *("file_share_session_id", "file_share_payment_id", "parent_id"),
)


class Reading:
    """Reads rows of a workspace while there is `room` for them in a copy; `kinds` says what they are."""

    def __init__(self, connection: Connection, workspace_id: UUID, room: int, kinds: str) -> None:
        self._connection, self._workspace_id = connection, workspace_id
        self._most = self._room = room
        self._kinds = kinds

    async def rows(
        self, model: type[Model], *order: str, where: ColumnElement[bool] | None = None
    ) -> list[Model]:
        """The rows of the table in this order. Raises `NotPermitted` for more than there is room for."""
        table = table_of(model)
        own = select(table).where(table.c.workspace_id == self._workspace_id)
        chosen = own if where is None else own.where(where)
        ordered = chosen.order_by(*(table.c[name] for name in order)).limit(self._room + 1)
        rows = await every_of(self._connection, model, ordered)
        self._room -= len(rows)
        if self._room < 0:
            raise NotPermitted(
                f"The workspace has more than {self._most:,} {self._kinds}, the limit of a copy."
            )
        return rows


class Copies:
    """The copies of rows in the workspace with this id; `ids` has the id of each by that of its row."""

    def __init__(self, workspace_id: UUID) -> None:
        self.workspace_id = workspace_id
        self.ids: dict[UUID, UUID] = {}

    async def insert(
        self,
        connection: Connection,
        model: type[SQLModel],
        rows: Sequence[SQLModel],
        own: Callable[[int, Any], Values] = lambda number, row: {},
    ) -> None:
        """Insert copies of rows, in their order; those that they refer to were copied before.

        `own` gives the values that differ, from the number of a row, beginning with 1, and from the row.
        """
        if "id" in table_of(model).c:
            self.ids |= {values_of(row)["id"]: uuid4() for row in rows}
        for first in range(0, len(rows), MOST_AT_ONCE):
            some = enumerate(rows[first : first + MOST_AT_ONCE], first + 1)
            await insert_rows(
                connection, model, [self._values(row) | own(number, row) for number, row in some]
            )

    def _values(self, row: SQLModel) -> Values:
        values = {name: value for name, value in values_of(row).items() if name not in _OWN}
        for name in _REFERENCES:
            if values.get(name) is not None:
                values[name] = self.ids[values[name]]
        return values | {"workspace_id": self.workspace_id}
