"""The product's fold, run to its end or in the background as in the gateway."""

from contextlib import AbstractAsyncContextManager

from gateway.background.tasks import BackgroundTask, running
from storage.engine.database import Database
from storage.upkeep.folding import SECONDS_BETWEEN_SWEEPS, Fold


async def fold_all(database: Database) -> None:
    fold = Fold(database)
    while await fold.run():
        pass


def folding(database: Database) -> AbstractAsyncContextManager[None]:
    """Fold in the background, as the gateway does, until the block ends."""
    return running([BackgroundTask("fold", Fold(database, SECONDS_BETWEEN_SWEEPS).run, every=0.5)])
