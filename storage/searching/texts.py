"""The texts that lists are searched in by a part, and the names of what indexes them.

Indexes of trigrams are no part of the tables' declarations: not every database can have them.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table

from storage.tables.base import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.shares.files import FileRow
from storage.tables.shares.shares import ShareRow

# Characters of a trigram, and so of the shortest part that an index finds.
SHORTEST = 3


@dataclass(frozen=True)
class Searched:
    """A table whose columns `texts` are searched; rows with `deleted_at` are in no list."""

    table: Table
    texts: tuple[str, ...]

    @property
    def index(self) -> str:
        """The index on PostgreSQL, and the `fts5` table on SQLite."""
        return f"ix_{self.table.name}_search"

    @property
    def waiting(self) -> str:
        """SQLite's table of the rows that are not in the index yet."""
        return f"{self.index}_waiting"

    @property
    def is_deleted_softly(self) -> bool:
        return "deleted_at" in self.table.c


SEARCHED = (
    Searched(table_of(CustomerRow), ("email_folded", "name_folded")),
    Searched(table_of(FileRow), ("name_folded",)),
    Searched(table_of(ShareRow), ("name_folded",)),
)
_PREFIXES = tuple(searched.index for searched in SEARCHED)


def is_searched(table: Table) -> bool:
    return any(searched.table is table for searched in SEARCHED)


def is_declared(name: str | None, kind: str, _: Any) -> bool:
    """Whether a table or index of a database is compared with the declarations: Alembic's `include_name`."""
    return kind not in ("table", "index") or not str(name).startswith(_PREFIXES)
