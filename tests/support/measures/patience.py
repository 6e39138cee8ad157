"""How long a test waits for what will surely come: so long that only what hangs is given up.

Every test has a time-out, so a loop that waits for a condition needs no end of its own.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

Value = TypeVar("Value")

# `PATIENCE=1500` is for a machine that has next to no time for the tests.
PATIENCE_SECONDS = float(os.environ.get("PATIENCE", "150"))
SECONDS_OF_A_TEST = PATIENCE_SECONDS * 1.2
# A wide fixture is set up inside the first test that asks for it.
SECONDS_OF_A_WIDE_FIXTURE = PATIENCE_SECONDS * 4
# For the few that install packages or read a whole guide: `pytestmark = TAKES_MINUTES`.
TAKES_MINUTES = pytest.mark.timeout(SECONDS_OF_A_WIDE_FIXTURE)
_SECONDS_BETWEEN_LOOKS = 0.02


def eventually(read: Callable[[], Value | None]) -> Value:
    """The first value that is neither None nor false."""
    while not (value := read()):
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return value


async def until(read: Callable[[], Awaitable[Value | None]]) -> Value:
    """The same for what the loop reads."""
    while not (value := await read()):  # noqa: ASYNC110 - it is in a database or in other processes
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
    return value
