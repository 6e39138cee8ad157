"""The beginnings of periods where clocks change or calendars skip a date, and the time between packs."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.metrics.cells.blocks import BLOCK
from storage.metrics.packs.packed_blocks import gaps
from storage.metrics.periods import Interval, TooManyPeriods, make_timeline
from storage.metrics.zones import spans, zone_names
from tests.metrics import reference
from tests.support.measures.cases import cases

# A date at or beside which the clocks of the zone were moved.
CHANGES = [
    ("America/Santiago", date(2025, 9, 7)),
    ("America/Santiago", date(2025, 4, 6)),
    ("Africa/Cairo", date(2024, 4, 26)),
    ("Africa/Cairo", date(2023, 10, 27)),
    ("Asia/Kathmandu", date(1986, 1, 1)),
    ("Australia/Lord_Howe", date(2025, 10, 5)),
    ("Australia/Lord_Howe", date(2025, 4, 6)),
    ("Pacific/Apia", date(2011, 12, 30)),
    ("Pacific/Kwajalein", date(1993, 8, 21)),
    ("America/St_Johns", date(2010, 3, 14)),
    ("America/St_Johns", date(2010, 11, 7)),
    ("America/St_Johns", date(1988, 4, 3)),
    ("Asia/Gaza", date(2011, 4, 1)),
    ("America/New_York", date(2025, 3, 9)),
    ("America/New_York", date(2025, 11, 2)),
    ("Europe/Berlin", date(2190, 10, 26)),
    ("Asia/Pyongyang", date(2018, 5, 5)),
    ("Asia/Kolkata", date(2025, 1, 1)),
    ("UTC", date(2025, 1, 1)),
]
LENGTHS = {"hour": 4, "day": 20, "week": 70, "month": 200, "quarter": 400, "year": 900}


@st.composite
def ranges(draw):
    """A zone, dates around a change of its clocks, and an interval."""
    zone, around = draw(st.sampled_from(CHANGES))
    interval = draw(st.sampled_from(list(LENGTHS)))
    start = around + timedelta(days=draw(st.integers(-LENGTHS[interval], 1)))
    end = start + timedelta(days=draw(st.integers(0, LENGTHS[interval])))
    return zone, start, end, interval


def counted(timeline):
    """Each period's timestamp, and the bounds between which it counts, in seconds."""
    bounds = [edge // 1_000_000 for edge in timeline.edges]
    return [(stamp, *bound) for stamp, bound in zip(timeline.timestamps, pairwise(bounds), strict=True)]


@settings(max_examples=cases(15))
@given(ranges())
def test_periods_begin_where_the_clocks_of_every_minute_say(asked):
    zone, start, end, interval = asked
    expected = reference.periods(zone, start, end, interval)
    assert counted(make_timeline(start, end, Interval(interval), zone)) == [
        (stamp, begins.timestamp(), ends.timestamp()) for stamp, begins, ends in expected
    ]


@settings(max_examples=cases(15))
@given(
    zone=st.sampled_from(zone_names()),
    start=st.dates(date(1973, 1, 1), date(2199, 1, 1)),
    days=st.integers(0, 390),
    interval=st.sampled_from(Interval),
)
def test_periods_tile_the_range_without_gap_or_overlap(zone, start, days, interval):
    timeline = make_timeline(start, start + timedelta(days=days), interval, zone)
    assert timeline.edges == sorted(set(timeline.edges))
    assert timeline.edges[0] == timeline.begins * 1_000_000
    assert timeline.edges[-1] == (timeline.ends if timeline.starts else timeline.begins) * 1_000_000
    assert len(timeline.starts) == len(timeline.edges) - 1 == len(timeline.timestamps)


@pytest.mark.parametrize(
    ("zone", "start", "end", "interval", "expected"),
    [
        ("America/Santiago", "2025-09-07", "2025-09-07", "day", ["2025-09-07T01:00:00.000000-03:00"]),
        ("Africa/Cairo", "2024-04-26", "2024-04-26", "day", ["2024-04-26T01:00:00.000000+03:00"]),
        (
            "Pacific/Apia",
            "2011-12-29",
            "2011-12-31",
            "day",
            ["2011-12-29T00:00:00.000000-10:00", "2011-12-31T00:00:00.000000+14:00"],
        ),
        ("Pacific/Apia", "2011-12-30", "2011-12-30", "day", []),
        ("Asia/Kathmandu", "1986-01-01", "1986-01-01", "day", ["1986-01-01T00:15:00.000000+05:45"]),
        ("America/New_York", "2025-11-05", "2025-11-06", "week", ["2025-11-03T00:00:00.000000-05:00"]),
        ("Europe/London", "2025-01-31", "2025-01-31", "month", ["2025-01-01T00:00:00.000000+00:00"]),
        (
            "UTC",
            "2025-06-30",
            "2025-07-01",
            "quarter",
            ["2025-04-01T00:00:00.000000+00:00", "2025-07-01T00:00:00.000000+00:00"],
        ),
        ("UTC", "1973-06-01", "1973-06-01", "year", ["1973-01-01T00:00:00.000000+00:00"]),
    ],
)
def test_a_period_begins_at_the_first_instant_of_its_dates(zone, start, end, interval, expected):
    dates = date.fromisoformat(start), date.fromisoformat(end)
    assert make_timeline(*dates, Interval(interval), zone).timestamps == expected


@pytest.mark.parametrize(
    ("zone", "day", "expected"),
    [
        ("America/New_York", "2025-11-02", ["00 -04:00", "01 -04:00", "01 -05:00", "02 -05:00"]),
        ("America/New_York", "2025-03-09", ["00 -05:00", "01 -05:00", "03 -04:00", "04 -04:00"]),
        ("America/Santiago", "2025-09-07", ["01 -03:00", "02 -03:00"]),
        ("Australia/Lord_Howe", "2025-04-06", ["00 +11:00", "01 +11:00", "02 +10:30"]),
    ],
)
def test_an_hour_that_is_shown_twice_is_two_periods(zone, day, expected):
    asked = date.fromisoformat(day)
    stamps = make_timeline(asked, asked, Interval.HOUR, zone).timestamps[: len(expected)]
    assert [f"{stamp[11:13]} {stamp[-6:]}" for stamp in stamps] == expected


def test_an_hour_begins_where_the_clock_jumps_over_its_beginning():
    lord_howe = make_timeline(date(2025, 10, 5), date(2025, 10, 5), Interval.HOUR, "Australia/Lord_Howe")
    assert lord_howe.timestamps[2] == "2025-10-05T02:30:00.000000+11:00"
    assert lord_howe.starts[3] - lord_howe.starts[2] == 1800


def test_a_half_hour_zone_begins_its_hours_when_its_own_clock_strikes():
    kolkata = make_timeline(date(2025, 1, 1), date(2025, 1, 1), Interval.HOUR, "Asia/Kolkata")
    assert kolkata.timestamps[1] == "2025-01-01T01:00:00.000000+05:30"


def test_ten_thousand_periods_are_answered_and_one_more_is_not():
    start = date(2000, 1, 1)
    assert len(make_timeline(start, start + timedelta(days=9_999), Interval.DAY, "UTC").starts) == 10_000
    with pytest.raises(TooManyPeriods):
        make_timeline(start, start + timedelta(days=10_000), Interval.DAY, "UTC")
    with pytest.raises(TooManyPeriods):
        make_timeline(date(1973, 1, 1), date(2200, 12, 31), Interval.HOUR, "UTC")
    assert len(make_timeline(start, start + timedelta(days=415), Interval.HOUR, "UTC").starts) == 9_984
    with pytest.raises(TooManyPeriods):
        make_timeline(start, start + timedelta(days=416), Interval.HOUR, "UTC")


def test_zones_are_the_packages_own_links_and_placeholders_included():
    assert {"Asia/Calcutta", "Factory", "localtime", "US/Eastern", "Etc/GMT+5"} <= set(zone_names())
    day = date(2025, 7, 1)
    for placeholder in ("Factory", "localtime"):
        same = make_timeline(day, day, Interval.DAY, placeholder)
        assert same.timestamps == ["2025-07-01T00:00:00.000000+00:00"]


@settings(max_examples=cases(60))
@given(zone=st.sampled_from(zone_names()), year=st.integers(1973, 2200))
def test_the_offset_of_every_hour_is_that_of_its_span(zone, year):
    begins, ends = (int(datetime(each, 1, 1, tzinfo=UTC).timestamp()) for each in (year, year + 1))
    rules = reference.zone_of("UTC" if zone in ("Factory", "localtime") else zone)
    for span in spans(zone, begins, ends):
        offset = timedelta(seconds=span.offset)
        hours = range(span.begins, span.ends, 3600)
        assert all(datetime.fromtimestamp(hour, rules).utcoffset() == offset for hour in hours)
        assert datetime.fromtimestamp(span.ends - 1, rules).utcoffset() == offset


@pytest.mark.parametrize(
    ("begins", "ends", "blocks", "expected"),
    [
        (5, 8, [], [(5, 8)]),
        (5, 8, [-BLOCK + 6, 7], [(6, 7)]),
        (5, 8, [-BLOCK, 9], [(5, 8)]),
        (0, 3 * BLOCK, [0, 2 * BLOCK], [(BLOCK, 2 * BLOCK)]),
        (1, BLOCK, [0], []),
    ],
)
def test_gaps_are_the_time_that_is_not_packed(begins, ends, blocks, expected):
    assert list(gaps(begins, ends, blocks)) == expected
