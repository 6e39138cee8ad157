"""What metrics are grouped by, and what a kind of groups has to read."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol
from uuid import UUID

from storage.metrics.cells.bitmaps import PersonCounts
from storage.metrics.reading.period_sums import PeriodSums
from storage.metrics.reading.reader import Question, Sums


class Grouping(StrEnum):
    """What facts have in common that are in one group."""

    SHARE = "share"
    CUSTOMER = "customer"
    CURRENCY = "currency"
    EVENT_NAME = "event_name"


class Rest:
    """The key of the facts that are in no group of their own."""


REST: Final = Rest()
# A share's or customer's id, a currency or an event name; None for facts without one.
Key = UUID | str
AnyKey = Key | Rest | None


class Groups(Protocol):
    """The facts of a selection by group."""

    async def sums(self, question: Question, keys: Collection[Key] | None = None) -> Mapping[Key, Sums]:
        """The sums of each group that has a key and facts; with `keys`, only of these groups."""

    async def keyed(self, question: Question) -> Sums:
        """The sums of all groups that have a key, together."""
        together = PeriodSums(question)
        for own in (await self.sums(question)).values():
            together.add_sums({None: own})
        return together.by_key[None]

    async def persons(
        self, edges: Sequence[int], total: PersonCounts, keys: Collection[Key | None] | None = None
    ) -> Mapping[AnyKey, PersonCounts]:
        """The distinct persons of each group; with `keys`, only of these groups, and those of the rest.

        `total` counts the persons of all groups, each once.
        """
