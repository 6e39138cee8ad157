"""Total orders over rows, and continuing from a place in one (keyset pagination)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Column, ColumnElement, Select, Table, Uuid, and_, false, or_, select, tuple_

from storage.types import MomentColumn


@dataclass(frozen=True)
class SortKey:
    """A column and its direction; nulls come last in both directions."""

    column: ColumnElement[Any]
    descending: bool
    is_nullable: bool

    @property
    def order(self) -> ColumnElement[Any]:
        ordered = self.column.desc() if self.descending else self.column.asc()
        return ordered.nulls_last() if self.is_nullable else ordered

    def equals(self, value: Any) -> ColumnElement[bool]:
        return self.column.is_(None) if value is None else self.column == value

    def beyond(self, value: Any) -> ColumnElement[bool]:
        if value is None:
            return false()
        further = self.column < value if self.descending else self.column > value
        return or_(further, self.column.is_(None)) if self.is_nullable else further


def total_order(keys: Sequence[SortKey], identity: Column[Any]) -> list[SortKey]:
    """The keys, then the identity in the direction of the last key, so that one index serves both."""
    return [*keys, SortKey(identity, keys[-1].descending, is_nullable=False)]


def after(keys: Sequence[SortKey], values: Sequence[Any]) -> ColumnElement[bool]:
    """The condition for rows after the one with these values of the keys."""
    same_direction = len({key.descending for key in keys}) == 1
    if same_direction and not any(key.is_nullable for key in keys):
        columns, place = tuple_(*(key.column for key in keys)), tuple_(*values)
        return columns < place if keys[0].descending else columns > place
    places = []
    for index, key in enumerate(keys):
        before = [k.equals(v) for k, v in zip(keys[:index], values[:index], strict=True)]
        places.append(and_(*before, key.beyond(values[index])))
    return or_(*places)


def by_keys(
    rows: Select[Any], table: Table, order: Sequence[SortKey], workspace_id: ColumnElement[UUID] | None
) -> Select[Any]:
    """A page of `rows` in this order, whose keys are found first.

    The rows before a late page are then skipped in an index that has all columns of the conditions and the
    order, and only those of the page are read. `rows` selects from `table` alone, with its limit and offset,
    and rows of the workspace only, if there is one: a cluster needs to read that here too.
    """
    keys = rows.with_only_columns(*table.primary_key.columns, maintain_column_froms=True).subquery("page")
    values: dict[str, ColumnElement[Any]] = {column.name: column for column in keys.c}
    if workspace_id is not None and "workspace_id" in values:
        values["workspace_id"] = workspace_id
    same = [column == values[column.name] for column in table.primary_key.columns]
    joined = select(*rows.selected_columns).join_from(keys, table, and_(*same))
    return joined.order_by(*(key.order for key in order))


def from_json(column: ColumnElement[Any], value: Any) -> Any:
    """The value from a cursor. Raises `ValueError` if the column cannot hold it."""
    if value is None:
        return None
    if isinstance(column.type, MomentColumn):
        return datetime.fromisoformat(value)
    return UUID(value) if isinstance(column.type, Uuid) else value
