"""Which fields of a refused row have values that another row already has."""

from sqlalchemy import Table, UniqueConstraint, literal, not_, select

from storage.engine.connections import Connection
from storage.rows.rows import Duplicate, table_of


async def taken_fields(connection: Connection, duplicate: Duplicate) -> list[str]:
    """The fields of the refused row whose unique values another row already has."""
    model, values, table = duplicate.model, duplicate.values, table_of(duplicate.model)
    taken = []
    for field, column in getattr(model, "unique", {}).items():
        if values.get(column) is None:
            continue
        names, frees = _unique_columns(table, column)
        others = [table.c[name] == values[name] for name in names]
        if frees:
            others.append(table.c.deleted_at.is_(None))
        if duplicate.itself is not None:
            others.append(not_(duplicate.itself))
        if (await connection.execute(select(literal(1)).select_from(table).where(*others))).first():
            taken.append(field)
    return taken


def _unique_columns(table: Table, column: str) -> tuple[list[str], bool]:
    """The columns of the unique index or constraint with `column`, and whether deleted rows free its values.

    A constraint is about all rows; an index is partial if rows of its table can be deleted.
    """
    indexes = [(list(index.columns.keys()), True) for index in table.indexes if index.unique]
    constraints = [
        (list(item.columns.keys()), False) for item in table.constraints if isinstance(item, UniqueConstraint)
    ]
    names, is_index = next(each for each in (*indexes, *constraints) if column in each[0])
    return names, is_index and "deleted_at" in table.columns
