"""What requests add up to in one process: an increment for each, without locks or texts."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from gateway.monitoring.declarations import BOUNDS, FIELDS, REQUESTS, SECONDS
from gateway.monitoring.numbers import Sample

REST, GRAPHQL, PAGE = "rest", "graphql", "page"
DOCUMENT, OTHER = "document", "other"

_WORDS = {429: "rate_limited", 503: "unavailable"}
_CLASSES = ("ok", "ok", "ok", "ok", "refused", "failed")


def outcome_of(status: int | None) -> str:
    """The word for a status; None if the client disconnected first."""
    if status is None:
        return "disconnected"
    return _WORDS.get(status) or _CLASSES[min(status // 100, 5)]


class Tally:
    """The requests of one operation over one surface."""

    __slots__ = ("_buckets", "_seconds", "_statuses", "in_progress", "labels")

    def __init__(self, surface: str, operation: str) -> None:
        self.labels = (surface, operation)
        self.in_progress = 0
        self._statuses: dict[int | None, int] = {}
        self._seconds = 0.0
        self._buckets = [0] * (len(BOUNDS) + 1)

    def add(self, status: int | None, seconds: float) -> None:
        self._statuses[status] = self._statuses.get(status, 0) + 1
        self._seconds += seconds
        self._buckets[bisect_left(BOUNDS, seconds)] += 1

    def samples(self) -> Iterator[Sample]:
        """Nothing before the first request."""
        if not self._statuses:
            return
        outcomes: Counter[str] = Counter()
        for status, count in self._statuses.items():
            outcomes[outcome_of(status)] += count
        for outcome, count in outcomes.items():
            yield Sample(REQUESTS.name, (*self.labels, outcome), [count])
        yield Sample(SECONDS.name, self.labels, [self._seconds, *self._buckets])


class Tallies:
    """All tallies of a process, and the root fields of GraphQL."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], Tally] = {}
        self.fields: Counter[tuple[str, str]] = Counter()

    @property
    def in_progress(self) -> int:
        return sum(tally.in_progress for tally in self._tallies.values())

    def of(self, surface: str, operation: str) -> Tally:
        """The one tally of this operation: two paths may lead to it."""
        return self._tallies.setdefault((surface, operation), Tally(surface, operation))

    def samples(self) -> Iterator[Sample]:
        for tally in self._tallies.values():
            yield from tally.samples()
        for labels, count in self.fields.items():
            yield Sample(FIELDS.name, labels, [count])
