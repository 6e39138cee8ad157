"""The product's own ways: where the resolver reads metrics from, the rebuild of the cells, and the fold."""

import asyncio
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from storage.database import Database
from storage.metrics.source import FactSource, Selection, Source

# How long the gateway rests when there is nothing to fold.
REST_SECONDS = 0.05


def make_source(connection: AsyncConnection, selection: Selection) -> Source:
    """As `resolvers.metrics` makes it."""
    return FactSource(connection, selection)


async def rebuild(database: Database, workspace_id: UUID) -> None:
    """Make the cells out of the log, as `duograph metrics rebuild` does."""


async def fold_piece(database: Database) -> bool:
    """Fold a bounded piece of what recorded facts left behind; whether there is more."""
    return False


async def fold_all(database: Database) -> None:
    while await fold_piece(database):
        pass


async def fold_forever(database: Database) -> None:
    """As the gateway does beside requests, until it is cancelled."""
    while True:
        if not await fold_piece(database):
            await asyncio.sleep(REST_SECONDS)
