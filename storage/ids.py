"""New ids: random UUIDs, many at a time, and those that grow with time."""

from os import urandom
from time import time_ns
from typing import cast
from uuid import UUID

# Its UUID is made from bytes and written as bytes in C; `uuid.UUID`, its base class, does both in Python.
from asyncpg.pgproto import pgproto

_BYTES = 16
# Random bytes with the bits of version 4 and of the variant of RFC 9562, and where they are in an id.
_VERSION, _VERSION_PLACE = bytes(byte & 0x0F | 0x40 for byte in range(256)), 6
_VARIANT, _VARIANT_PLACE = bytes(byte & 0x3F | 0x80 for byte in range(256)), 8
# The bits of version 7 and of the variant, below the milliseconds, and those that are random.
_GROWING, _LOWER = 0x7 << 76 | 0x2 << 62, (1 << 62) - 1
_NANOSECONDS = 1_000_000


def new_ids(many: int) -> list[UUID]:
    """So many UUIDs as `uuid4` makes them, for one call to the system."""
    random = bytearray(urandom(_BYTES * many))
    for place, bits in ((_VERSION_PLACE, _VERSION), (_VARIANT_PLACE, _VARIANT)):
        random[place::_BYTES] = random[place::_BYTES].translate(bits)
    ids = bytes(random)
    return [pgproto.UUID(ids[start : start + _BYTES]) for start in range(0, len(ids), _BYTES)]


def growing_number() -> int:
    """A UUID of version 7 as a number: greater than those of earlier milliseconds, on a clock that is right.

    Rows that are inserted one after the other are neighbours in the index of their key, so fewer of its pages
    are written. The numbers that follow it are UUIDs too.
    """
    millisecond, part = divmod(time_ns(), _NANOSECONDS)
    # The 12 bits above the variant are the part of the millisecond.
    finer = part * 4096 // _NANOSECONDS
    return millisecond << 80 | finer << 64 | _GROWING | int.from_bytes(urandom(8)) & _LOWER


def id_of(number: int) -> UUID:
    """The UUID with this number."""
    return cast(UUID, pgproto.UUID(number.to_bytes(_BYTES)))
