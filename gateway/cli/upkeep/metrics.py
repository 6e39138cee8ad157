"""What `duograph metrics` does."""

from uuid import UUID

from gateway.cli.upkeep.derived import Kept
from storage.engine.database import Database
from storage.metrics.cells.rebuild import rebuild
from storage.metrics.cells.verify import Verification, verify
from storage.metrics.packs.verify_packs import verify_packs


async def verify_all(database: Database, workspace_id: UUID) -> Verification:
    """Compare the cells with the log, and the packs with the cells; a pack is a difference, not a cell."""
    cells, differences = await verify(database, workspace_id)
    return Verification(cells, differences + await verify_packs(database, workspace_id))


CELLS = Kept("cells", "the log", "metrics", verify_all, rebuild)
