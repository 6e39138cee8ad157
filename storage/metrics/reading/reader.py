"""What a read of metrics asks for, and what it is given: sums and persons between any edges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from storage.metrics.cells.bitmaps import Persons
from storage.metrics.sums import Term

Sums = Mapping[Term, list[int]]


@dataclass(frozen=True)
class Selection:
    """Which facts: those of all these workspaces, and of the shares and customers where any are named."""

    workspace_ids: Sequence[UUID]
    share_ids: Sequence[UUID] | None = None
    customer_ids: Sequence[UUID] | None = None


class Source(Protocol):
    """Edges are microseconds since 1970, ascending; a period lies between two that follow each other."""

    async def sums(
        self, terms: Sequence[Term], edges: Sequence[int], currency: str, states: Sequence[Term] = ()
    ) -> Sums:
        """Each term's sum before the first edge, 0 where it is none of `states`, and in each period."""

    async def money(self, terms: Sequence[Term], edges: Sequence[int]) -> Mapping[str, Sums]:
        """The same in each currency that has facts."""

    async def persons(self, edges: Sequence[int]) -> Persons:
        """The persons with an event, each once, merged ones as one."""
