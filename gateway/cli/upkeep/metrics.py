"""What `duograph metrics` does."""

from gateway.cli.upkeep.derived import Kept
from storage.metrics.packs import ledger

CELLS = Kept("cells", "the log", "metrics", (ledger.CELLS,))
