"""When a delivery is tried again."""

from collections.abc import Callable
from datetime import datetime, timedelta
from random import random

SECONDS_BEFORE = (5, 30, 120, 600, 3_600, 3 * 3_600)
SECONDS_LATER = 6 * 3_600
GIVE_UP_AFTER = timedelta(days=3)
# Up to this part of a pause is added, so that what failed at one time is not tried again at one time.
JITTER = 0.1


def next_try(
    attempts: int,
    began: datetime,
    at: datetime,
    retry_after: float | None = None,
    chance: Callable[[], float] = random,
) -> datetime | None:
    """The moment of the next attempt after `attempts` that failed; none if the last was the last.

    `began` is when the first could be made, `at` the present. The receiver's `retry_after` is kept if it is
    longer.
    """
    pauses = SECONDS_BEFORE[attempts - 1 : attempts]
    seconds = (pauses[0] if pauses else SECONDS_LATER) * (1 + JITTER * chance())
    due_at = at + timedelta(seconds=max(seconds, retry_after or 0))
    return None if due_at > began + GIVE_UP_AFTER else due_at
