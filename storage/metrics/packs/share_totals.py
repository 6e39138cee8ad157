"""What each share of a block adds up to, all shares in one value: for rankings and for states.

A section for what is not money and one for each currency: the ids of the shares, then column by column their
sums.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from struct import Struct
from typing import Any

# The length of a section's currency, the number of its shares, and that of its columns.
_SECTION = Struct("<BIB")
_ID = 16
_SUM = 8


def write_totals(sections: Mapping[str, Mapping[bytes, Sequence[int]]]) -> bytes:
    """The sums of each share, by the bytes of its id, in each section."""
    parts = []
    for currency, totals in sections.items():
        name, columns = currency.encode(), list(zip(*totals.values(), strict=True))
        parts += [_SECTION.pack(len(name), len(totals), len(columns)), name, *totals]
        parts += [array("q", values).tobytes() for values in columns]
    return b"".join(parts)


def read_totals(
    packed: bytes, wanted: Mapping[str, Sequence[int]]
) -> Iterable[tuple[str, bytes, Sequence[Any]]]:
    """A currency, a share's id, and its sums in the columns at the wanted places."""
    begins = 0
    while begins < len(packed):
        name, shares, columns = _SECTION.unpack_from(packed, begins)
        begins += _SECTION.size
        currency = packed[begins : begins + name].decode()
        begins += name
        sums = begins + shares * _ID
        if currency in wanted:
            ids = [packed[first : first + _ID] for first in range(begins, sums, _ID)]
            values = [
                array("q", packed[sums + place * shares * _SUM : sums + (place + 1) * shares * _SUM])
                for place in wanted[currency]
            ]
            for id, *own in zip(ids, *values, strict=True):
                yield currency, id, own
        begins = sums + columns * shares * _SUM
