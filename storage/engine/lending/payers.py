"""Who units of work are done for: each holds a part of a pool at most, and pays for the time."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, thread_time

# The part of a pool that one key may hold.
PART = 4


class Payer:
    """The caller of one request.

    `key` is that of its workspace, user or network address, which hold connections together. `seconds` is how
    long connections were lent for the request, and what `making` adds.
    """

    __slots__ = ("key", "seconds")

    def __init__(self, key: str) -> None:
        self.key = key
        self.seconds = 0.0


class Held:
    """How many connections of a pool each key holds: at most `most`, and any number without a key."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._counts: dict[str, int] = {}

    def take(self, key: str | None) -> bool:
        """Count one more; False if the key holds as many as it may."""
        if key is None:
            return True
        count = self._counts.get(key, 0)
        if count >= self.most:
            return False
        self._counts[key] = count + 1
        return True

    def end(self, key: str | None) -> None:
        """Count one less."""
        if key is not None:
            count = self._counts[key]
            if count == 1:
                del self._counts[key]
            else:
                self._counts[key] = count - 1


def key_of(payer: Payer | None) -> str | None:
    return None if payer is None else payer.key


@contextmanager
def paying(payer: Payer | None) -> Iterator[None]:
    """Count the seconds of the block."""
    began = monotonic()
    try:
        yield
    finally:
        if payer is not None:
            payer.seconds += monotonic() - began


@contextmanager
def making(payer: Payer | None) -> Iterator[None]:
    """Count the processor time of the block, which makes what is kept for later requests of the same form."""
    began = thread_time()
    try:
        yield
    finally:
        if payer is not None:
            payer.seconds += thread_time() - began
