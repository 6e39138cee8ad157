"""Rows as the driver gives them: where they are thousands, SQLAlchemy's take longer than the statement."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.ext.asyncio import AsyncConnection


async def driver_rows(
    connection: AsyncConnection, statement: Executable, values: Mapping[str, Any]
) -> Sequence[Any]:
    """The rows of a statement whose columns need no conversion, as numbers and texts do not."""
    result = await connection.execute(statement, values)
    rows: Sequence[Any] = result.cursor.fetchall()
    result.close()
    return rows
