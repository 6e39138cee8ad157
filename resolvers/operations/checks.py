"""The tolerance for moments in the future: the clocks of reporting systems differ from ours."""

from datetime import datetime, timedelta

from schema.errors import Location, Problem, problem
from schema.scalars import write_moment

AHEAD_AT_MOST = timedelta(minutes=5)


def check_ahead(at: datetime, clock: datetime, loc: Location) -> list[Problem]:
    """The problem with a moment more than five minutes after `clock`, which is now."""
    if at <= clock + AHEAD_AT_MOST:
        return []
    return [problem(loc, "The moment is more than 5 minutes in the future", "ahead", input=write_moment(at))]
