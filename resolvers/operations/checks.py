"""The moments that other systems may report: their clocks differ from ours."""

from datetime import UTC, datetime, timedelta

from schema.errors import Location, Problem, problem
from schema.values.scalars import write_moment

AHEAD_AT_MOST = timedelta(minutes=5)
# PostgreSQL's driver writes the first moment of the year 1, where a day and an hour begin, as minus infinity.
EARLIEST = datetime(1, 1, 2, tzinfo=UTC)


def check_reported(at: datetime, clock: datetime, loc: Location) -> list[Problem]:
    """The problem with a moment on the first day of the year 1, or more than five minutes after `clock`."""
    if at < EARLIEST:
        return [problem(loc, "The moment is before 2 January of the year 1", "early", input=write_moment(at))]
    if at <= clock + AHEAD_AT_MOST:
        return []
    return [problem(loc, "The moment is more than 5 minutes in the future", "ahead", input=write_moment(at))]
