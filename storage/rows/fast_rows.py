"""Rows as the driver returns them: SQLAlchemy's rows, by the thousand, take longer than the statement."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Executable

from storage.engine.connections import Connection


async def driver_rows(
    connection: Connection, statement: Executable, values: Mapping[str, Any]
) -> Sequence[Any]:
    """The rows of a statement whose columns need no conversion, such as numbers and texts."""
    result = await connection.execute(statement, values)
    rows: Sequence[Any] = result.cursor.fetchall()
    result.close()
    return rows
