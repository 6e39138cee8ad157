"""What `duograph metrics` does."""

from gateway.cli.kept import Kept
from storage.metrics.cells.rebuild import rebuild
from storage.metrics.cells.verify import verify

CELLS = Kept("cells", "the log", "metrics", verify, rebuild)
