"""When each workspace was last written to by the processes of this host, in memory that they share."""

import mmap
from collections.abc import Collection
from time import monotonic_ns
from uuid import UUID

SLOTS = 8192
_BYTES_OF_A_MOMENT = 8
# There is no lock: of two processes that note a write at once, the one with the earlier moment may come last.
# Moments are therefore noted as if they were later than they are.
GRACE_NANOSECONDS = 250_000_000


class LastWrites:
    """Made before processes are forked. Moments are nanoseconds of the monotonic clock, 0 for none.

    Each workspace has a slot by its id: workspaces in the same slot count as one.
    """

    def __init__(self) -> None:
        # The last slot is for all workspaces together.
        self._moments = memoryview(mmap.mmap(-1, (SLOTS + 1) * _BYTES_OF_A_MOMENT)).cast("q")

    @property
    def newest(self) -> int:
        """The moment of the last write to any workspace."""
        return self._moments[SLOTS]

    def note(self, workspace_ids: Collection[UUID]) -> None:
        """Note a write to these workspaces that is committed, before its caller is answered."""
        if not workspace_ids:
            return
        moment = monotonic_ns() + GRACE_NANOSECONDS
        for workspace_id in workspace_ids:
            self._moments[workspace_id.int % SLOTS] = moment
        self._moments[SLOTS] = moment

    def are_before(self, moment: int, workspace_ids: Collection[UUID]) -> bool:
        """Whether the last write to each of these workspaces was before the moment."""
        moments = self._moments
        return all(moments[workspace_id.int % SLOTS] < moment for workspace_id in workspace_ids)
