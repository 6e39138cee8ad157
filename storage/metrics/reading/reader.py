"""What metrics read from: sums and distinct persons in the periods between any edges."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Protocol
from uuid import UUID

from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.sums import FactSum

# The sum before the first edge, then the sum of each period.
Sums = Mapping[FactSum, list[int]]
# By the key of a group; None if nothing is grouped.
SumsByKey = defaultdict[Any, Sums]


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


@dataclass(frozen=True)
class Question:
    """The sums to read in the periods between edges, which are microseconds since 1970, ascending.

    Sums in a currency take money in `currency`, or in the key if they are grouped by it. `states` also count
    before the first edge.
    """

    fact_sums: Sequence[FactSum]
    edges: Sequence[int]
    currency: str = ""
    states: Sequence[FactSum] = ()
    grouped_by: GroupedBy | None = None


class Source(Protocol):
    """The facts of a selection."""

    async def sums(self, question: Question) -> SumsByKey:
        """Each sum before the first edge (0 unless it is one of `states`), and in each period."""

    async def persons(self, edges: Sequence[int]) -> PersonCounts:
        """The persons with an event, each counted once; merged persons are one."""
