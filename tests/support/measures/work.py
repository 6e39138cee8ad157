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


@dataclass
class Lines:
    """Lines of Python's code that ran, also again and again in a loop that calls nothing."""

    number: int = 0

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.number += 1
        return self.trace


@contextmanager
def counted_lines() -> Iterator[Lines]:
    """The lines that this thread runs in functions called in the block."""
    lines, before = Lines(), sys.gettrace()
    sys.settrace(lines.trace)
    try:
        yield lines
    finally:
        sys.settrace(before)
