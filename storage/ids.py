"""New ids: random UUIDs, many at a time."""

from os import urandom
from uuid import UUID

# Its UUID is made from bytes and written as bytes in C; `uuid.UUID`, its base class, does both in Python.
from asyncpg.pgproto import pgproto

_BYTES = 16
# The bits of version 4 and of the variant of RFC 9562, and those that are random.
_FIXED, _RANDOM = 0x4 << 76 | 0x2 << 62, ~(0xF << 76 | 0x3 << 62)


def new_ids(many: int) -> list[UUID]:
    """So many UUIDs as `uuid4` makes them, for one call to the system."""
    random = urandom(_BYTES * many)
    numbers = [int.from_bytes(random[start : start + _BYTES]) for start in range(0, len(random), _BYTES)]
    return [pgproto.UUID((number & _RANDOM | _FIXED).to_bytes(_BYTES)) for number in numbers]
