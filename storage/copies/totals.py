"""The values that the totals of lists are kept for: each database writes ids and booleans in its own way.

SQLite has `0b8e…` without hyphens and `1`, PostgreSQL `0b8e-…` and `true`, so the move rewrites them.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import Boolean, Table, Uuid
from sqlalchemy.types import TypeEngine

from storage.tables.base import table_of
from storage.tables.registry import COUNTED_MODELS
from storage.tables.workspaces.totals import ListTotalDeltaRow, ListTotalRow
from storage.totals.lists import list_name, write_value

TABLES: tuple[Table, ...] = (table_of(ListTotalRow), table_of(ListTotalDeltaRow))
# The types of the columns that each list is filtered by.
_TYPES = {
    list_name(model, names): [table_of(model).c[name].type for name in names]
    for model in COUNTED_MODELS
    for names in model.counted
}
_REWRITTEN = {
    name for name, types in _TYPES.items() if any(isinstance(each, Uuid | Boolean) for each in types)
}


def on_postgresql(list: str, value: str) -> str:
    """The value of SQLite as PostgreSQL writes it. Raises `ValueError` for one that no row can have."""
    if list not in _REWRITTEN:
        return value
    parts = zip(_TYPES[list], value.split(","), strict=True)
    return ",".join(_rewritten(kind, part) for kind, part in parts)


def _rewritten(kind: TypeEngine[Any], part: str) -> str:
    if isinstance(kind, Uuid):
        return write_value("postgresql", UUID(part))
    if isinstance(kind, Boolean):
        return write_value("postgresql", bool(int(part)))
    return part


def alike() -> str:
    """SQL of both databases for a text of the value that is the same on both."""
    lists = ", ".join(f"'{name}'" for name in sorted(_REWRITTEN))
    value = "value"
    for theirs, ours in (("-", ""), ("true", "1"), ("false", "0")):
        value = f"replace({value}, '{theirs}', '{ours}')"
    return f"CASE WHEN list IN ({lists}) THEN {value} ELSE value END"
