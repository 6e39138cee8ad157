"""How much is done, as a number that no other process changes: the calls of functions on this thread."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any


@dataclass
class Calls:
    """Those of Python's functions and of functions in C."""

    number: int = 0

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        if event in {"call", "c_call"}:
            self.number += 1


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """The calls during the block, also those of other tasks of the loop."""
    calls, before = Calls(), sys.getprofile()
    sys.setprofile(calls.note)
    try:
        yield calls
    finally:
        sys.setprofile(before)
