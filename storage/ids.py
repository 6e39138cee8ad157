"""New ids: random UUIDs, many at a time."""

from os import urandom
from uuid import UUID

# Its UUID is made from bytes and written as bytes in C; `uuid.UUID`, its base class, does both in Python.
from asyncpg.pgproto import pgproto

_BYTES = 16
# Random bytes with the bits of version 4 and of the variant of RFC 9562, and where they are in an id.
_VERSION, _VERSION_PLACE = bytes(byte & 0x0F | 0x40 for byte in range(256)), 6
_VARIANT, _VARIANT_PLACE = bytes(byte & 0x3F | 0x80 for byte in range(256)), 8


def new_ids(many: int) -> list[UUID]:
    """So many UUIDs as `uuid4` makes them, for one call to the system."""
    random = bytearray(urandom(_BYTES * many))
    for place, bits in ((_VERSION_PLACE, _VERSION), (_VARIANT_PLACE, _VARIANT)):
        random[place::_BYTES] = random[place::_BYTES].translate(bits)
    ids = bytes(random)
    return [pgproto.UUID(ids[start : start + _BYTES]) for start in range(0, len(ids), _BYTES)]
