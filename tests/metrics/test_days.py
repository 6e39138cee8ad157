"""Periods as whole UTC days, with and without the early cells of a day."""

from datetime import UTC, date, datetime
from uuid import UUID

import pytest

from storage.enums import FactKind
from storage.metrics.cells.cells import SHARE_GRAINS
from storage.metrics.cells.tiling import FEWEST_DAYS, Grain, make_cover, make_days
from storage.metrics.facts import Fact, record_facts
from storage.metrics.periods import Interval, make_timeline
from tests.support.databases.facts import fold_all

HOUR = Grain.HOUR.microseconds
FIRST, LAST = date(2025, 1, 1), date(2025, 12, 31)


def hours_of(days):
    """How often each hour counts in each period."""
    counted = {}

    def add(period, begin, grain, weight):
        if 0 <= period < len(days.edges) - 2:
            for hour in range(begin, begin + grain.microseconds, HOUR):
                counted[period, hour] = counted.get((period, hour), 0) + weight

    for place, midnight in enumerate(days.edges[:-2]):
        for day in range(midnight, days.edges[place + 1], Grain.DAY.microseconds):
            add(place, day, Grain.DAY, 1)
    for layer in days.early:
        for begin in layer.only:
            place = days.edges.index(Grain.DAY.begins(begin))
            add(place, begin, layer.grain, -1)
            add(place - 1, begin, layer.grain, 1)
    return {key: weight for key, weight in counted.items() if weight}


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "Europe/Berlin"])
@pytest.mark.parametrize(
    "interval", [Interval.DAY, Interval.WEEK, Interval.MONTH, Interval.QUARTER, Interval.YEAR]
)
def test_every_hour_counts_once_in_its_period(zone, interval):
    edges = make_timeline(FIRST, LAST, interval, zone).edges
    days = make_days(tuple(edges), SHARE_GRAINS)
    assert days is not None
    expected = {
        (period, hour): 1
        for period in range(len(edges) - 1)
        for hour in range(edges[period], edges[period + 1], HOUR)
    }
    assert hours_of(days) == expected


def test_a_year_by_day_reads_less_than_half_of_the_cells():
    edges = tuple(make_timeline(FIRST, LAST, Interval.DAY, "America/New_York").edges)
    days = make_days(edges, SHARE_GRAINS)
    cells = len(edges) + sum(len(layer.only) for layer in days.early)
    base, *finer = make_cover(edges, SHARE_GRAINS).layers
    covered = (edges[-1] - edges[0]) // base.grain.microseconds - len(base.but)
    assert 2 * cells < covered + sum(len(layer.only) for layer in finer)


@pytest.mark.parametrize(
    ("zone", "interval", "first"),
    [
        ("UTC", Interval.DAY, FIRST),
        ("America/New_York", Interval.HOUR, FIRST),
        ("Asia/Kolkata", Interval.DAY, FIRST),
        ("America/New_York", Interval.DAY, date(2025, 12, 1)),
    ],
    ids=["midnights", "hours", "half hours", "short"],
)
def test_days_are_left_out_where_they_do_not_help(zone, interval, first):
    assert (LAST - date(2025, 12, 1)).days < FEWEST_DAYS
    edges = make_timeline(first, LAST, interval, zone).edges
    assert make_days(tuple(edges), SHARE_GRAINS) is None


async def test_a_share_that_sold_on_the_last_evening_only_has_its_group(surface, gateway, tenant):
    share = await surface.create_share(data={"name": "Late", "prices": [{"amount_type": "free"}]})
    # The evening of the last day, which is over in UTC.
    evening = datetime(2026, 1, 1, 2, 30, tzinfo=UTC)
    money = {"share_id": UUID(share["id"]), "currency": "usd", "amount": 700}
    async with gateway.database.write() as connection:
        await record_facts(connection, [Fact(UUID(tenant.id), FactKind.PAYMENT, evening, **money)])
    await fold_all(gateway, UUID(tenant.id))
    (group,) = (
        await surface.get_metrics(
            start_date=FIRST.isoformat(),
            end_date=LAST.isoformat(),
            interval="month",
            timezone="America/New_York",
            metrics=["file_share_revenue"],
            group_by="share",
        )
    )["groups"]
    assert [period["file_share_revenue"] for period in group["periods"]] == [0] * 11 + [700]
