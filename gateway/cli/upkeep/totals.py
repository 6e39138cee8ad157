"""What `duograph totals` does."""

from gateway.cli.upkeep.derived import Kept
from storage.totals.events import EVENTS
from storage.totals.lists import LISTS

TOTALS = Kept("totals", "the rows", "totals", (LISTS, EVENTS))
