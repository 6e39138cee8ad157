"""What metrics read from: sums and distinct persons in the periods between any edges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol
from uuid import UUID

from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.sums import FactSum

# The sum before the first edge, then the sum of each period.
Sums = Mapping[FactSum, list[int]]


@dataclass(frozen=True)
class Selection:
    """The facts to read: those of all these workspaces; if given, only of these shares and customers."""

    workspace_ids: Sequence[UUID]
    share_ids: Sequence[UUID] | None = None
    customer_ids: Sequence[UUID] | None = None


class GroupedBy(Enum):
    """The key that statements put before their other columns; null for facts without one.

    `SHARE`: the share's id. `PERSON`: the person's number. `CURRENCY`: its code.
    """

    SHARE = auto()
    PERSON = auto()
    CURRENCY = auto()


class Source(Protocol):
    """Edges are microseconds since 1970, ascending; a period lies between two consecutive edges."""

    async def sums(
        self,
        fact_sums: Sequence[FactSum],
        edges: Sequence[int],
        currency: str,
        states: Sequence[FactSum] = (),
    ) -> Sums:
        """Each sum before the first edge (0 unless it is one of `states`), and in each period."""

    async def money(self, fact_sums: Sequence[FactSum], edges: Sequence[int]) -> Mapping[str, Sums]:
        """The same for each currency that has facts."""

    async def persons(self, edges: Sequence[int]) -> PersonCounts:
        """The persons with an event, each counted once; merged persons are one."""
