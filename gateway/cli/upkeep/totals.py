"""What `duograph totals` does."""

from gateway.cli.upkeep.derived import Kept
from storage.totals.verify import rebuild_totals, verify_totals

TOTALS = Kept("totals", "the rows", "totals", verify_totals, rebuild_totals)
