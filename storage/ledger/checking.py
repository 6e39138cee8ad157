"""Counting a workspace again: to compare its books with the recount, or to make them anew."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete

from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.ledger.books import Ledger, Verification
from storage.ledger.workspace_lock import rebuild_in_one_snapshot


async def verify(database: Database, workspace_id: UUID, ledgers: Sequence[Ledger]) -> Verification:
    """Compare the books, with the deltas that wait, with what is counted, in one snapshot."""
    rows = differences = 0
    async with database.snapshot() as connection:
        for ledger in ledgers:
            for book in ledger.books:
                more, different = await book.compare(connection, ledger, workspace_id)
                rows, differences = rows + more, differences + different
    return Verification(rows, differences)


async def rebuild(database: Database, workspace_id: UUID, ledgers: Sequence[Ledger]) -> int:
    """Count a workspace anew in one transaction and return the number of rows in the books.

    Changes may be written meanwhile: their deltas are left to the fold.
    """

    async def count_anew(connection: Connection, workspace_id: UUID) -> int:
        rows = 0
        for ledger in ledgers:
            own = ledger.deltas.c.workspace_id == workspace_id
            await connection.execute(delete(ledger.deltas).where(own))
            for book in ledger.books:
                rows += await book.rebuild(connection, ledger, workspace_id)
        return rows

    return await rebuild_in_one_snapshot(database, workspace_id, count_anew)
