"""The sums of a share by hour, in one value: running totals, so that any time between hours is a difference.

A value has a section for what is not money and one for each currency. A section has the hours in which the
share has a cell, numbered from 0, and for each column that is not 0 throughout the running totals before each
of these hours, and after the last.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from struct import Struct

from storage.metrics.cells.tiling import Grain
from storage.metrics.packs.packed_columns import narrow

# The length of a section's currency, and that of its body.
_SECTION = Struct("<BI")
# The number of hours and that of columns.
_BODY = Struct("<HB")
_HOURS = "H"


def write_hours(at: int, sections: Mapping[str, Sequence[Sequence[int]]]) -> bytes:
    """The cells of hours by currency: rows of the beginning and the packed columns, in order."""
    parts = []
    for currency, cells in sections.items():
        if cells:
            body, name = _body(at, cells), currency.encode()
            parts += [_SECTION.pack(len(name), len(body)), name, body]
    return b"".join(parts)


def _body(at: int, cells: Sequence[Sequence[int]]) -> bytes:
    moments, *columns = zip(*cells, strict=True)
    kept = {place: narrow([0, *accumulate(values)]) for place, values in enumerate(columns) if any(values)}
    described = b"".join(bytes((place, ord(values.typecode))) for place, values in kept.items())
    hours = array(_HOURS, [(moment - at) // Grain.HOUR.microseconds for moment in moments])
    values = [each.tobytes() for each in kept.values()]
    return b"".join((_BODY.pack(len(hours), len(kept)), described, hours.tobytes(), *values))


def read_hours(
    packed: bytes, wanted: Mapping[str, Iterable[int]], hours: Sequence[int]
) -> list[tuple[str, int, Sequence[int]]]:
    """A currency, the place of a column, and its running totals before each of `hours` and at the end.

    `wanted` has the places of columns by currency; `hours` ascend. Columns that are 0 are left out.
    """
    found: list[tuple[str, int, Sequence[int]]] = []
    begins, left = 0, len(wanted)
    while left and begins < len(packed):
        name, body = _SECTION.unpack_from(packed, begins)
        begins += _SECTION.size
        currency = packed[begins : begins + name].decode()
        begins += name
        if currency in wanted:
            left -= 1
            found += _totals(packed, begins, currency, wanted[currency], hours)
        begins += body
    return found


def _totals(
    packed: bytes, begins: int, currency: str, places: Iterable[int], hours: Sequence[int]
) -> list[tuple[str, int, Sequence[int]]]:
    many, columns = _BODY.unpack_from(packed, begins)
    begins += _BODY.size
    described = packed[begins : begins + 2 * columns]
    begins += 2 * columns
    own = array(_HOURS, packed[begins : begins + 2 * many])
    begins += 2 * many
    # The last twice: of a single item, `itemgetter` makes no tuple.
    read = itemgetter(*[bisect_left(own, hour) for hour in hours], many, many)
    found = []
    for place, code in zip(described[::2], map(chr, described[1::2]), strict=True):
        ends = begins + (many + 1) * _SIZES[code]
        if place in places:
            found.append((currency, place, read(array(code, packed[begins:ends]))[:-1]))
        begins = ends
    return found


_SIZES = {code: array(code).itemsize for code in "BHiq"}
