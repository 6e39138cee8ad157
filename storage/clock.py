"""The one clock: moments are UTC, to the microsecond."""

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)
