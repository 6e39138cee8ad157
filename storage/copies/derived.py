"""Foreign keys and indexes of the target: dropped before its tables are filled, and built afterwards.

PostgreSQL builds them from whole tables in a fraction of the time that each row by itself takes, and rows may
refer to others of their table that come later. Primary and unique keys stay.
"""

from collections.abc import Iterator

from sqlalchemy import ForeignKeyConstraint, Index
from sqlalchemy.schema import AddConstraint, CreateIndex, DropConstraint, DropIndex

from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.searching import postgresql
from storage.tables.registry import METADATA

_NAMES = """
    SELECT conname FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
    UNION ALL SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()
"""
# PostgreSQL's default sorts the entries of large indexes on disk.
_MEMORY = "SET LOCAL maintenance_work_mem = '256MB'"


Derived = Index | ForeignKeyConstraint


def _all() -> Iterator[Derived]:
    """Indexes come first: those of the referring columns are of use when the keys are checked."""
    for table in METADATA.sorted_tables:
        yield from (index for index in table.indexes if not index.unique)
    for table in METADATA.sorted_tables:
        yield from table.foreign_key_constraints


DERIVED = tuple(_all())


async def drop_derived(target: Database) -> None:
    """Drop what there is of them."""
    async with target.write() as connection:
        await postgresql.drop(connection)
        existing = await _names(connection)
        for each in reversed(DERIVED):
            if _name(target, each) in existing:
                drops = DropIndex(each) if isinstance(each, Index) else DropConstraint(each)
                await connection.execute(drops)


async def missing_of(target: Database) -> list[Derived]:
    """Those that are still to be built, in their order."""
    async with target.read() as connection:
        existing = await _names(connection)
    return [each for each in DERIVED if _name(target, each) not in existing]


async def build(target: Database, derived: Derived) -> None:
    """Build one in a transaction of its own: after an interruption, only the others are left."""
    async with target.write() as connection:
        await without_timeout(connection)
        await connection.exec_driver_sql(_MEMORY)
        await connection.execute(
            CreateIndex(derived) if isinstance(derived, Index) else AddConstraint(derived)
        )


async def without_timeout(connection: Connection) -> None:
    """Let the statements of this transaction take as long as whole tables take."""
    await connection.exec_driver_sql("SET LOCAL statement_timeout = 0")


def _name(target: Database, derived: Derived) -> str:
    """The name as PostgreSQL has it, which shortens long ones."""
    return str(target.dialect.identifier_preparer.format_constraint(derived))


async def _names(connection: Connection) -> set[str]:
    return set((await connection.exec_driver_sql(_NAMES)).scalars())
