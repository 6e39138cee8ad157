"""INSERT ... ON CONFLICT, which SQLAlchemy has separately for SQLite and PostgreSQL."""

from typing import TypeAlias

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

Upsert: TypeAlias = postgresql.Insert | sqlite.Insert


def upsert(dialect: str, table: Table) -> Upsert:
    """An INSERT that can have an ON CONFLICT clause."""
    if dialect == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)
