"""Time zones of the tzdata package, never of the host, and when their offsets change."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple
from zoneinfo import ZoneInfo

DAY = 86_400
# Names that stand for the zone of a host; there is none here.
_MEANS_UTC = frozenset({"Factory", "localtime"})


class Span(NamedTuple):
    """Instants of one offset: from `begins` until `ends`, in seconds since 1970; `offset` in seconds."""

    begins: int
    ends: int
    offset: int


@cache
def zone_names() -> tuple[str, ...]:
    """Every name of the package, links included, and the two that mean UTC; sorted."""
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


def offset_at(name: str, instant: int) -> int:
    """The zone's offset at an instant, both in seconds."""
    offset = datetime.fromtimestamp(instant, _zone(name)).utcoffset()
    return 0 if offset is None else offset.days * DAY + offset.seconds


def spans(name: str, begins: int, ends: int) -> list[Span]:
    """The offsets between two instants, in order and without a gap."""
    found = []
    start, offset = begins, offset_at(name, begins)
    for instant, changed in _changes_between(name, begins, ends):
        found.append(Span(start, instant, offset))
        start, offset = instant, changed
    return [*found, Span(start, ends, offset)]


def _changes_between(name: str, begins: int, ends: int) -> Iterator[tuple[int, int]]:
    for year in range(_year(begins), _year(ends) + 1):
        yield from (change for change in _changes(name, year) if begins < change[0] < ends)


@lru_cache(maxsize=10_000)
def _changes(name: str, year: int) -> tuple[tuple[int, int], ...]:
    """The instants of a year (in UTC) at which the offset becomes another one.

    Looking once a day finds them all: two changes of a zone are never closer than a week.
    """
    last = _first_second(year + 1)
    found = []
    before, offset = _first_second(year) - 1, offset_at(name, _first_second(year) - 1)
    while before < last - 1:
        after = min(before + DAY, last - 1)
        changed = offset_at(name, after)
        if changed != offset:
            found.append((_first_with(name, changed, before, after), changed))
        before, offset = after, changed
    return tuple(found)


def _first_with(name: str, offset: int, before: int, after: int) -> int:
    """The instant between the two from which the offset is this one."""
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
