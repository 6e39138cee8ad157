"""The series of a dashboard: what they are compared with, their files, and the rows behind them."""

import csv
import html
import json
import re
from datetime import UTC, datetime
from functools import partial
from io import StringIO
from urllib.parse import unquote

import pytest

from gateway.web.dashboard import page as dashboard
from gateway.web.dashboard.metrics import question
from gateway.web.dashboard.metrics.cards import NO_DATA
from gateway.web.dashboard.parts import Part
from resolvers.metrics import answers
from schema.errors import Unavailable
from tests.support.tenants.dashboards import ADDRESS, compare_in, table_in


async def csv_of(owner, page, slug):
    """The rows of a chart's file, and its name."""
    (address,) = re.findall(rf'href="([^"]*/metric/{slug}/csv[^"]*)"', page)
    answer = await owner.client.get(html.unescape(address))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    name = unquote(answer.headers["content-disposition"].partition("filename*=UTF-8''")[2])
    return list(csv.DictReader(StringIO(answer.text))), name


async def test_the_csv_file_is_the_series(owner, path, activity):
    page = (await owner.open(f"{path}?{ADDRESS}&metric=file_share_sessions")).text
    rows, _ = await csv_of(owner, page, "file_share_sessions")
    shown = [row[1] for row in table_in(page, "file_share_sessions")[:-1]]
    assert [row["Sessions"] for row in rows] == shown


async def test_a_csv_file_has_major_units_and_a_name_that_says_what_it_is(
    owner, path, rest, tenant, activity
):
    await compare_in(rest, tenant)
    await rest.update_workspace(id=tenant.id, data={"name": "Harbour/Prints"})
    page = (await owner.open(f"{path}?{ADDRESS}")).text
    rows, name = await csv_of(owner, page, "file_share_revenue")
    assert name == "Revenue of HarbourPrints, 2026-01-26 to 2026-02-01.csv"
    assert rows[5] == {
        "Period": "2026-01-31",
        "Revenue (USD)": "15.00",
        "Period before": "2026-01-24",
        "Revenue (USD) before": "0.00",
    }
    assert len(rows) == 7
    rows, _ = await csv_of(owner, page, "file_share_payment_conversion")
    # What is a ratio to nothing is empty.
    assert [row["Payment conversion (%)"] for row in rows] == [*[""] * 5, "100", ""]
    assert (await owner.open(f"{path}/metric/nothing/csv")).status_code == 404
    rows, _ = await csv_of(owner, page, "file_share_total_size_bytes")
    assert [row["Total file size (bytes)"] for row in rows] == ["0", "0", "0", "2000", "0", "2000", "0"]
    hours = "range=custom&start_date=2026-01-31&end_date=2026-01-31"
    page = (await owner.open(f"{path}?{hours}")).text
    rows, name = await csv_of(owner, page, "file_share_revenue")
    assert name == "Revenue of HarbourPrints, 2026-01-31.csv"
    assert rows[9]["Period"] == "2026-01-31 09:00"


async def test_a_ratio_to_nothing_is_a_dash(owner, path, activity):
    page = (await owner.open(f"{path}?{ADDRESS}")).text
    conversions = [row[1] for row in table_in(page, "file_share_payment_conversion")]
    assert conversions == [*[NO_DATA] * 5, "100.0%", NO_DATA, "100.0%"]
    assert table_in(page, "file_share_paid_sessions")[0][1] == "0"
    page = (await owner.open(f"{path}?range=custom&start_date=2026-02-01&end_date=2026-02-02")).text
    assert {row[1] for row in table_in(page, "file_share_avg_price")} == {NO_DATA}


async def test_a_period_opens_the_rows_that_it_counts(owner, path, rest, activity):
    await owner.open(f"{path}/metric/file_share_sessions?{ADDRESS}")
    found = []
    for address in [link for link in owner.reading.links if "metric=file_share_sessions&" in link]:
        if "/sessions?" in address:
            text = (await owner.open(address)).text
            found.append(int((re.findall(r'<p class="count">(\d+)', text) or ["0"])[0]))
    assert found == [0, 0, 0, 1, 0, 1, 0]
    page = (await owner.open(f"{path}?{ADDRESS}&cumulative=1&interval=week&metric=file_share_sessions")).text
    days = json.loads(html.unescape(re.findall(r'data-days="([^"]*)"', page)[0]))
    assert days == [["2026-01-26", "2026-02-01"]]
    section = page.partition('id="cumulative_file_share_sessions"')[2]
    assert "start_date=2026-01-26" in re.findall(r'data-rows="([^"]*)"', section)[0]
    hours = "range=custom&start_date=2026-01-31&end_date=2026-01-31"
    assert "data-rows" not in (await owner.open(f"{path}?{hours}")).text


async def test_ranges_are_compared_with_those_that_line_up(owner, path, rest, tenant, monkeypatch):
    """This month with the same days of the one before, twelve months with the same months a year before."""
    await compare_in(rest, tenant)
    moment = datetime(2026, 3, 30, 9, 20, tzinfo=UTC)
    monkeypatch.setattr(question, "now", lambda: moment)
    page = (await owner.open(f"{path}?range=month&metric=file_share_sessions")).text
    assert "Dashed: 1 February 2026 to 28 February 2026" in owner.text
    assert table_in(page, "file_share_sessions")[29] == ["Mon 30 Mar 2026", "0", NO_DATA]
    await owner.open(f"{path}?range=12m")
    assert "Dashed: 1 April 2024 to 30 March 2025" in owner.text
    await owner.open(f"{path}?range=month&compare=previous_year")
    assert "Dashed: 1 March 2025 to 30 March 2025" in owner.text


async def test_today_is_compared_with_yesterday_until_the_same_hour(
    owner, path, rest, tenant, activity, monkeypatch
):
    await compare_in(rest, tenant)
    for hour, before in ((8, "0"), (9, "1")):
        for module in (question, answers):
            monkeypatch.setattr(module, "now", partial(datetime, 2026, 2, 1, hour, 20, tzinfo=UTC))
        page = (await owner.open(f"{path}?range=today&metric=file_share_sessions")).text
        *rows, total = table_in(page, "file_share_sessions")
        assert [row[2] for row in rows] == [*["0"] * 9, "1", *["0"] * 14]
        assert total == ["In all", "0", before]
        assert f"until {hour + 1:02}:00 of the day before" in owner.text
        # A ratio of a part of a day is none of its hours'.
        assert table_in(page, "file_share_avg_downloads")[-1] == ["In all", NO_DATA]


@pytest.mark.parametrize(
    ("interval", "label", "tick"),
    [
        ("hour", "Mo., 26. Jan. 2026, 00:00", "26. Jan."),
        ("day", "Mo., 26. Jan. 2026", "26. Jan."),
        ("week", "Week of 26. Jan. 2026", "26. Jan."),
        ("month", "Januar 2026", "Jan. 2026"),
        ("quarter", "Q1 2026", "Q1 2026"),
        ("year", "2026", "2026"),
    ],
)
async def test_periods_are_named_as_in_the_readers_country(owner, path, interval, label, tick):
    owner.client.headers["Accept-Language"] = "de"
    page = (await owner.open(f"{path}?{ADDRESS}&interval={interval}&metric=file_share_sessions")).text
    assert table_in(page, "file_share_sessions")[0][0] == label
    assert re.findall(r'<text class="tick(?: extra)?"[^>]*text-anchor="middle">(.*?)<', page)[0] == tick


async def test_no_label_is_so_near_to_the_end_that_it_would_leave_its_chart(owner, path):
    page = (await owner.open(f"{path}?start_date=2026-01-20&end_date=2026-02-01")).text
    ticks = re.findall(r'<text class="tick[^>]* x="([0-9.]+)%"[^>]*>(.*?)<', page)
    assert [text for _, text in ticks[:4]] == ["20 Jan", "23 Jan", "26 Jan", "29 Jan"]
    assert "1 Feb" not in {text for _, text in ticks}
    assert max(float(place) for place, _ in ticks) < 95


async def test_a_date_that_a_country_left_out_has_no_periods(owner, path):
    """Samoa went from 29 to 31 December 2011."""
    asked = "start_date=2011-12-30&end_date=2011-12-30&interval=day&timezone=Pacific/Apia"
    page = (await owner.open(f"{path}?{asked}")).text
    assert owner.page.status_code == 200
    assert "There are no periods in this range." in page
    assert "<polyline" not in page
    assert (await owner.open(f"{path}/metric/file_share_sessions?{asked}")).status_code == 200


@pytest.mark.parametrize(
    ("asked", "until"),
    [
        ("start_date=2026-01-26&end_date=2026-02-01", "2026-02-01"),
        # A day there is told as the workspace's next one, or the one after it.
        ("start_date=2026-01-26&end_date=2026-02-01&timezone=America/Los_Angeles", "2026-02-03"),
        ("range=7d", ""),
    ],
)
async def test_a_page_says_until_which_day_changes_are_its_own(owner, path, asked, until):
    page = (await owner.open(f"{path}?{asked}")).text
    assert re.findall(r'data-until="(.*?)"', page) == [until]


async def test_the_last_date_of_the_calendar_is_no_error_while_metrics_cannot_be_read(
    owner, path, monkeypatch
):
    async def fail(answer):
        answer.close()
        return Part(None, Unavailable("The database does not answer."))

    monkeypatch.setattr(dashboard, "attempt", fail)
    await owner.open(f"{path}?start_date=9999-12-31&end_date=9999-12-31&timezone=Asia/Tokyo")
    assert owner.page.status_code == 200
