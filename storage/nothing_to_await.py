"""What to await where there is nothing to wait for, without a coroutine that is made for it."""

from collections.abc import Awaitable, Iterator
from typing import Any


class _Done(Awaitable[None]):
    """Awaited as often as one likes, it never waits."""

    def __await__(self) -> Iterator[Any]:  # type: ignore[override]  # a generator would be made for it
        return iter(())


DONE = _Done()
