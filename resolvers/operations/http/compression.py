"""Compresses answers for clients that accept it; `docs/decisions/surfaces.md` says which answers, and why.

What is public is the same for everybody: it is compressed once, and kept.
"""

import asyncio
import zlib
from collections.abc import Mapping
from functools import lru_cache

from backports import zstd

from storage.caches import Cache

# Less would hardly save a packet.
LEAST_BYTES = 1024
# Longer bodies take more than a millisecond or so: other requests are answered meanwhile.
MOST_BYTES_INLINE = 128 * 1024
BYTES_KEPT = 8 * 1024 * 1024
# On a page of 100 events, zstd at 1 takes a third of the time of gzip at 1, and gives a quarter fewer bytes.
_QUICK, _SMALL = {"zstd": 1, "gzip": 1}, {"zstd": 19, "gzip": 9}
_GZIP_WINDOW = 31
# What a browser says of a request that a page of ours, or its user by the address bar, has made.
_OF_ITS_USER = (b"same-origin", b"none")

_kept: Cache[tuple[str, str], bytes] = Cache(BYTES_KEPT)


def kept_bytes() -> int:
    """The memory that kept bodies take."""
    return _kept.size


def encoding_for(sent: Mapping[bytes, bytes]) -> str | None:
    """The encoding for a request with these headers: `zstd`, `gzip` or None."""
    accepted = sent.get(b"accept-encoding")
    return None if accepted is None else _best(accepted)


def private_encoding_for(sent: Mapping[bytes, bytes]) -> str | None:
    """The same for an answer that is not public.

    The page of another site could have a browser ask again and again, choose what is reflected beside the
    answer's secrets, and learn them by its length (BREACH). So nothing is compressed for a request with a
    cookie unless the browser says that no other site made it.
    """
    if b"cookie" in sent and sent.get(b"sec-fetch-site") not in _OF_ITS_USER:
        return None
    return encoding_for(sent)


async def compressed(body: bytes, encoding: str) -> bytes:
    """The body in this encoding, made beside other requests if it is long."""
    return await _made(body, encoding, _QUICK[encoding])


async def kept_compressed(tag: str, body: bytes, encoding: str) -> bytes:
    """The same for a public body with this entity tag, as small as can be."""
    found = _kept.get((tag, encoding))
    if found is None:
        found = await _made(body, encoding, _SMALL[encoding])
        _kept.keep((tag, encoding), found, len(found))
    return found


async def _made(body: bytes, encoding: str, level: int) -> bytes:
    if len(body) <= MOST_BYTES_INLINE:
        return _compress(body, encoding, level)
    # Both libraries let go of the interpreter.
    return await asyncio.to_thread(_compress, body, encoding, level)


def _compress(body: bytes, encoding: str, level: int) -> bytes:
    return zstd.compress(body, level) if encoding == "zstd" else zlib.compress(body, level, _GZIP_WINDOW)


@lru_cache(maxsize=64)
def _best(accepted: bytes) -> str | None:
    """The encoding with the largest weight (RFC 9110, 12.5.3); of equal ones zstd, then gzip."""
    weights: dict[str, float] = {}
    for part in accepted.decode("latin-1").lower().split(","):
        name, _, parameter = part.partition(";")
        weights[name.strip()] = _weight(parameter.strip())
    others = weights.get("*", 0.0)
    plain = weights.get("identity", 0.0)
    best = max(("zstd", "gzip"), key=lambda name: weights.get(name, others))
    weight = weights.get(best, others)
    return best if weight > 0 and weight >= plain else None


def _weight(parameter: str) -> float:
    if not parameter:
        return 1.0
    try:
        return float(parameter.removeprefix("q="))
    except ValueError:
        return 0.0
