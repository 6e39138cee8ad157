"""Comparing what is kept with what it is counted from, and making it anew."""

from uuid import UUID

from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.ledger import checking
from storage.ledger.books import Verification, Workspaces
from storage.metrics.packs.ledger import CELLS
from storage.totals.events import EVENT_COUNTS, EVENT_NAMES, EVENTS
from storage.totals.lists import LIST_TOTALS, LISTS


async def verify_totals(database: Database, home: UUID) -> Verification:
    return await checking.verify(database, home, (LISTS, EVENTS))


async def rebuild_totals(database: Database, home: UUID) -> int:
    return await checking.rebuild(database, home, (LISTS, EVENTS))


async def verify_cells(database: Database, home: UUID) -> Verification:
    return await checking.verify(database, home, (CELLS,))


async def rebuild_cells(database: Database, home: UUID) -> int:
    return await checking.rebuild(database, home, (CELLS,))


async def compare_totals(connection: Connection, workspaces: Workspaces) -> Verification:
    """The totals of several workspaces, in the snapshot of `connection`."""
    of_lists = await LIST_TOTALS.compare_in(connection, LISTS, workspaces)
    of_names = await EVENT_NAMES.compare_in(connection, EVENTS, workspaces)
    counts = await EVENT_COUNTS.compare_in(connection, EVENTS, workspaces)
    return Verification(*map(sum, zip(of_lists, of_names, counts, strict=True)))
