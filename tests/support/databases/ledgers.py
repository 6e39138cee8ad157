"""Comparing what is kept with what it is counted from, and making it anew."""

from typing import Any
from uuid import UUID

from sqlalchemy import select

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


async def wrong_totals(connection: Connection, workspaces: Workspaces) -> list[list[Any]]:
    """The keys of the totals of several workspaces that differ from a recount in the same snapshot."""
    wrong = []
    for totals, ledger in ((LIST_TOTALS, LISTS), (EVENT_NAMES, EVENTS), (EVENT_COUNTS, EVENTS)):
        rows = totals.compared(ledger, workspaces).subquery()
        keys = [rows.c[name] for name in totals.keys]
        differing = await connection.execute(select(*keys).where(rows.c.differs))
        wrong += [[totals.table.name, *key] for key in differing]
    return wrong
