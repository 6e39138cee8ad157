"""Time zones from the tzdata package, never from the host, and the changes of their offsets."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple
from zoneinfo import ZoneInfo

DAY = 86_400
# Names that stand for the zone of the host, which has none here.
_MEANS_UTC = frozenset({"Factory", "localtime"})


class Span(NamedTuple):
    """Time with one offset, from `begins` to `ends` in seconds since 1970; `offset` is in seconds."""

    begins: int
    ends: int
    offset: int


class OffsetChange(NamedTuple):
    """The instant from which an offset applies, both in seconds."""

    instant: int
    offset: int


@cache
def zone_names() -> tuple[str, ...]:
    """All names of the package, including links, and the two that mean UTC; sorted."""
    names = (resources.files("tzdata") / "zones").read_text().split()
    return tuple(sorted({*names, *_MEANS_UTC}))


@cache
def is_zone(name: str) -> bool:
    return name in frozenset(zone_names())


@cache
def _zone(name: str) -> ZoneInfo:
    path = (resources.files("tzdata") / "zoneinfo").joinpath(
        *("UTC" if name in _MEANS_UTC else name).split("/")
    )
    with path.open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def in_zone(moment: datetime, name: str) -> datetime:
    """The moment with the zone's offset."""
    return moment.astimezone(_zone(name))


def offset_at(name: str, instant: int) -> int:
    """The zone's offset at an instant, both in seconds."""
    offset = datetime.fromtimestamp(instant, _zone(name)).utcoffset()
    return 0 if offset is None else offset.days * DAY + offset.seconds


def spans(name: str, begins: int, ends: int) -> list[Span]:
    """The offsets between two instants, in order and without gaps."""
    all_spans = []
    start, offset = begins, offset_at(name, begins)
    for change in _changes_between(name, begins, ends):
        all_spans.append(Span(start, change.instant, offset))
        start, offset = change
    return [*all_spans, Span(start, ends, offset)]


def _changes_between(name: str, begins: int, ends: int) -> Iterator[OffsetChange]:
    for year in range(_year(begins), _year(ends) + 1):
        yield from (change for change in _changes(name, year) if begins < change.instant < ends)


@lru_cache(maxsize=10_000)
def _changes(name: str, year: int) -> tuple[OffsetChange, ...]:
    """The changes of the offset in a year (in UTC).

    One look per day finds them all, because two changes of a zone are at least a week apart.
    """
    last = _first_second(year + 1)
    changes = []
    before, offset = _first_second(year) - 1, offset_at(name, _first_second(year) - 1)
    while before < last - 1:
        after = min(before + DAY, last - 1)
        changed = offset_at(name, after)
        if changed != offset:
            changes.append(OffsetChange(_first_with(name, changed, before, after), changed))
        before, offset = after, changed
    return tuple(changes)


def _first_with(name: str, offset: int, before: int, after: int) -> int:
    """The first instant with this offset, which changes to it between `before` and `after`."""
    while after - before > 1:
        middle = (before + after) // 2
        if offset_at(name, middle) == offset:
            after = middle
        else:
            before = middle
    return after


def _first_second(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp())


def _year(instant: int) -> int:
    return datetime.fromtimestamp(instant, UTC).year
