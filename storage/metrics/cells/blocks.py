"""The blocks of time that packs hold."""

from storage.metrics.cells.tiling import Grain

DAYS = 32
# 1970 began with a block, and so did the time before all facts.
BLOCK = DAYS * Grain.DAY.microseconds


def block_of(moment: int) -> int:
    """The beginning of the block that contains a moment."""
    return moment - moment % BLOCK
