"""The persons of shares in a block, by the hour of the day and the day, so that local days take few sets.

A person on a day is one number: the day's slot, times 2^26, plus the person. Slots go from 1 to 32; slot 0 is
the day before the block, to which a zone moves the hours before an hour of the day, the early ones.

The busiest shares are apart, because the groups of an answer are probably among them. Each has the set of its
numbers, and the numbers in the order of the first and of the last hour in which they occur: the early hours
and the late ones are both a slice of these, or the set without a slice. All other shares together have a set
for each hour of the day. Apart they have their numbers by hour, which is compact and slower.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from struct import Struct
from typing import NamedTuple

from pyroaring import BitMap

from storage.metrics.cells.blocks import DAYS

BITS = 26
SLOT = 1 << BITS
# Persons from here on do not fit.
MOST_PERSONS = SLOT
_END = 2**32
_HOURS_OF_DAY = 24
BUSIEST = 24

_COUNT = Struct("<I")
_SHARE = Struct("<16sI")
# The share, how many numbers it has, and the size of their set.
_BUSY = Struct("<16sII")


class Persons(NamedTuple):
    """The persons of a share, by the bytes of its id: hours of the day, ascending, and a number for each."""

    share: bytes
    hours: bytes
    numbers: bytes

    def split(self, hour: int) -> tuple[bytes, bytes]:
        """The numbers before an hour of the day, and the others."""
        place = _COUNT.size * bisect_left(self.hours, hour)
        return self.numbers[:place], self.numbers[place:]


class BusyPersons(NamedTuple):
    """The persons of a busy share: their numbers as a set, by their first hour, and by their last."""

    share: bytes
    numbers: BitMap
    by_first: Persons
    by_last: Persons

    @classmethod
    def of(cls, persons: Persons) -> "BusyPersons":
        numbers = array("I", persons.numbers)
        last = dict(zip(numbers, persons.hours, strict=True))
        first = dict(zip(reversed(numbers), reversed(persons.hours), strict=True))
        return cls(
            persons.share, BitMap(numbers), _by_hour(persons.share, first), _by_hour(persons.share, last)
        )

    def early(self, hour: int) -> BitMap:
        """The numbers that occur before an hour of the day."""
        early, others = self.by_first.split(hour)
        return self._smaller(early, others)

    def late(self, hour: int) -> BitMap:
        """The numbers that occur from an hour of the day on."""
        others, late = self.by_last.split(hour)
        return self._smaller(late, others)

    def _smaller(self, wanted: bytes, others: bytes) -> BitMap:
        return _bitmap([wanted]) if len(wanted) < len(others) else self.numbers - _bitmap([others])


class Cut(NamedTuple):
    """Days of a block, from slot to slot, that all begin at one hour of the UTC day."""

    hour: int
    first: int
    last: int


class PackedPersons(NamedTuple):
    """The layouts of a block's persons: the busiest shares, all others as one set, and each of these."""

    busiest: bytes
    together: bytes
    others: bytes


def write_persons(shares: Iterable[Persons]) -> PackedPersons:
    ranked = sorted(shares, key=lambda persons: (-len(persons.hours), persons.share))
    others = ranked[BUSIEST:]
    return PackedPersons(_write_busy(ranked[:BUSIEST]), _write_together(others), _write(others))


def _by_hour(share: bytes, hours: Mapping[int, int]) -> Persons:
    numbers = sorted((hour, number) for number, hour in hours.items())
    return Persons(
        share, bytes(hour for hour, _ in numbers), array("I", [number for _, number in numbers]).tobytes()
    )


def _write_busy(shares: Iterable[Persons]) -> bytes:
    parts = []
    for busy in map(BusyPersons.of, shares):
        numbers = busy.numbers.serialize()
        parts += [_BUSY.pack(busy.share, len(busy.numbers), len(numbers)), numbers]
        parts += [busy.by_first.hours, busy.by_first.numbers, busy.by_last.hours, busy.by_last.numbers]
    return b"".join(parts)


def read_busy(packed: bytes) -> list[BusyPersons]:
    """The shares of `busiest`."""
    shares, begins = [], 0
    while begins < len(packed):
        share, many, size = _BUSY.unpack_from(packed, begins)
        begins += _BUSY.size
        numbers = BitMap.deserialize(packed[begins : begins + size])
        begins += size
        slices = []
        for length in (many, _COUNT.size * many) * 2:
            slices.append(packed[begins : begins + length])
            begins += length
        by_first, by_last = Persons(share, *slices[:2]), Persons(share, *slices[2:])
        shares.append(BusyPersons(share, numbers, by_first, by_last))
    return shares


def _write(shares: Sequence[Persons]) -> bytes:
    heads = [_SHARE.pack(persons.share, len(persons.hours)) for persons in shares]
    values = [each for persons in shares for each in (persons.hours, persons.numbers)]
    return b"".join((_COUNT.pack(len(shares)), *heads, *values))


def read_persons(packed: bytes) -> list[Persons]:
    """The shares of `others`."""
    (many,) = _COUNT.unpack_from(packed)
    begins, shares = _COUNT.size + many * _SHARE.size, []
    for share, size in _SHARE.iter_unpack(packed[_COUNT.size : begins]):
        middle = begins + size
        ends = middle + size * _COUNT.size
        shares.append(Persons(share, packed[begins:middle], packed[middle:ends]))
        begins = ends
    return shares


def _write_together(shares: Sequence[Persons]) -> bytes:
    parts = []
    for hour in range(_HOURS_OF_DAY):
        own = [persons.split(hour)[1] for persons in shares]
        later = [persons.split(hour + 1)[1] for persons in shares]
        numbers = [each[: len(each) - len(rest)] for each, rest in zip(own, later, strict=True)]
        bitmap = _bitmap(numbers).serialize()
        parts += [_COUNT.pack(len(bitmap)), bitmap]
    return b"".join(parts)


def _read_together(packed: bytes) -> list[BitMap]:
    begins, bitmaps = 0, []
    while begins < len(packed):
        (size,) = _COUNT.unpack_from(packed, begins)
        begins += _COUNT.size
        bitmaps.append(BitMap.deserialize(packed[begins : begins + size]))
        begins += size
    return bitmaps


def days_of(shares: Sequence[Persons], cuts: Sequence[Cut]) -> BitMap:
    """The numbers of some shares, with the days that the cuts make."""
    found = []
    for cut in cuts:
        early, late = [], []
        for persons in shares:
            before, after = persons.split(cut.hour)
            early.append(before)
            late.append(after)
        found.append(_cut(cut, _bitmap(early), _bitmap(late)))
    return _union(found)


def days_of_busy(shares: Sequence[BusyPersons], cuts: Sequence[Cut]) -> BitMap:
    """The same for shares of `busiest`."""
    return _union(
        _cut(
            cut,
            _union(busy.early(cut.hour) for busy in shares if cut.hour),
            _union(busy.late(cut.hour) for busy in shares),
        )
        for cut in cuts
    )


def days_together(packed: bytes, cuts: Sequence[Cut]) -> BitMap:
    """The same for `together`."""
    hours = _read_together(packed)
    return _union(_cut(cut, _union(hours[: cut.hour]), _union(hours[cut.hour :])) for cut in cuts)


def _cut(cut: Cut, early: BitMap, late: BitMap) -> BitMap:
    """The days of a cut; its early hours belong to the day before."""
    if cut.first > 1 or cut.last < DAYS:
        for bitmap in (early, late):
            keep_slots(bitmap, cut.first, cut.last)
    return late | early.shift(-SLOT) if early else late


def keep_slots(numbers: BitMap, first: int, last: int) -> None:
    """Remove the numbers of other slots."""
    numbers.remove_range(0, first * SLOT)
    numbers.remove_range((last + 1) * SLOT, _END)


def persons_of(numbers: BitMap, first: int, last: int) -> BitMap:
    """The persons in these slots, whatever their day: halves are laid upon each other."""
    persons = numbers.shift(-first * SLOT)
    persons.remove_range((last - first + 1) * SLOT, _END)
    width = 1
    while width <= last - first:
        width *= 2
    while width > 1:
        width //= 2
        upper = persons.shift(-width * SLOT)
        persons.remove_range(width * SLOT, _END)
        persons |= upper
    return persons


def replace_absorbed_in(numbers: BitMap, merges: Mapping[int, int]) -> None:
    """Replace absorbed persons by those they were merged into, on every day."""
    absorbed = BitMap(merges)
    found = numbers & BitMap.union(*(absorbed.shift(slot * SLOT) for slot in range(DAYS + 1)))
    numbers -= found
    numbers.update(number - number % SLOT + merges[number % SLOT] for number in found)


def many_in(numbers: BitMap, slot: int) -> int:
    """How many persons a day has."""
    return int(numbers.range_cardinality(slot * SLOT, (slot + 1) * SLOT))


def _bitmap(numbers: Iterable[bytes]) -> BitMap:
    return BitMap(array("I", b"".join(numbers)))


def _union(bitmaps: Iterable[BitMap]) -> BitMap:
    """The union, which is the only one of the bitmaps itself if there are no others."""
    found = list(bitmaps)
    return found[0] if len(found) == 1 else BitMap.union(BitMap(), *found)
