"""The number of events in a span of time is that of a count, wherever the span begins and ends."""

from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

import pytest

from tests.support.databases.facts import fold_all

MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)
# The first moments that can be written, the last ones of a period, and the first ones of the next.
NEAR = [timedelta(0), -timedelta(microseconds=1), timedelta(microseconds=1), timedelta(minutes=17)]
NAMES = ["opened", "closed"]


def moments(random, many):
    """Moments of four days, most of them where a day or an hour begins."""
    for _ in range(many):
        yield (
            MIDNIGHT
            + random.choice(NEAR)
            + timedelta(hours=random.choice([*range(-2, 3), *range(20, 80, 9)]))
        )


@pytest.fixture
async def events(rest, gateway, tenant):
    """The name and the timestamp of some events: most are folded into the counts, others wait."""
    random = Random(7)
    written = []
    for many in (60, 20):
        await fold_all(gateway, UUID(tenant.id))
        new = [(random.choice(NAMES), moment) for moment in moments(random, many)]
        listed = [{"name": name, "timestamp": moment.isoformat()} for name, moment in new]
        await rest.ingest_events(data={"events": listed})
        written += new
    return written


async def test_a_list_of_any_time_has_the_number_of_its_events(surface, events):
    random = Random(3)
    for pair in zip(moments(random, 60), moments(random, 60), strict=True):
        begins, ends = random.choice([pair, (pair[0], None), (None, pair[1])])
        name = random.choice([None, *NAMES])
        bounds = {"start_timestamp": begins, "end_timestamp": ends}
        filters = {key: moment.isoformat() for key, moment in bounds.items() if moment is not None}
        if name is not None:
            filters["name"] = [name]
        page = await surface.list_events(**filters, limit=1)
        assert page["meta"]["total"] == sum(
            name in (None, each) and (begins is None or begins <= moment) and (ends is None or moment < ends)
            for each, moment in events
        ), filters


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"]
)
async def test_a_list_may_begin_and_end_at_any_moment_that_can_be_written(surface, moment):
    written = [
        "0001-01-02T00:00:00Z",
        "0001-01-02T00:30:00Z",
        "1969-12-31T23:59:59.999999Z",
        "2026-01-01T00:00:00Z",
    ]
    await surface.ingest_events(data={"events": [{"name": "opened", "timestamp": each} for each in written]})
    since = await surface.list_events(start_timestamp=moment)
    until = await surface.list_events(end_timestamp=moment)
    assert since["meta"]["total"] == len(since["data"]) == sum(each >= moment for each in written)
    assert until["meta"]["total"] == len(until["data"]) == sum(each < moment for each in written)


async def test_the_days_and_hours_of_a_time_zone_are_those_of_utc(surface):
    zoned = ["2026-03-01T00:10:00+05:30", "2026-02-28T18:40:00Z"]
    await surface.ingest_events(data={"events": [{"name": "opened", "timestamp": each} for each in zoned]})
    page = await surface.list_events(
        start_timestamp="2026-03-01T00:00:00+05:30", end_timestamp="2026-03-01T01:00:00+05:30"
    )
    assert page["meta"]["total"] == 2


async def test_no_event_has_an_empty_name(surface, events):
    page = await surface.list_events(name=[""], start_timestamp="2026-01-01T00:00:00Z")
    assert page["data"] == []
    assert page["meta"]["total"] == 0
