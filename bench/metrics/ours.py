"""The fold of the product, at once and as the gateway runs it."""

from contextlib import AbstractAsyncContextManager

from gateway.background import BackgroundTask, running
from storage.database import Database
from storage.metrics.cells.fold import Fold


async def fold_all(database: Database) -> None:
    fold = Fold(database)
    while await fold.run():
        pass


def folding(database: Database) -> AbstractAsyncContextManager[None]:
    """Fold as the gateway does beside requests, until the block is left."""
    return running([BackgroundTask("fold", Fold(database).run, every=0.5)])
