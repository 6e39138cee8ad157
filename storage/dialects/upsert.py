"""INSERT ... ON CONFLICT, which SQLite and PostgreSQL both have and SQLAlchemy spells once for each."""

from typing import TypeAlias

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

Upsert: TypeAlias = postgresql.Insert | sqlite.Insert


def upsert(dialect: str, table: Table) -> Upsert:
    """An INSERT, to which a conflict can be answered."""
    if dialect == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)
