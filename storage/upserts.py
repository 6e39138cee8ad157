"""INSERT ... ON CONFLICT, which SQLite and PostgreSQL both have and SQLAlchemy spells once for each."""

from typing import TypeAlias

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

Upsert: TypeAlias = postgresql.Insert | sqlite.Insert


def upsert(connection: AsyncConnection, table: Table) -> Upsert:
    """An INSERT of the connection's database, to which a conflict can be answered."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)
