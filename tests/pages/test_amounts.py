"""Amounts as people type them: what is understood, what is refused, and that pages write what they read."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.web.kit import amounts
from gateway.web.kit.amounts import AmountRefused, major_units, read_amount
from gateway.web.kit.languages import LOCALES
from gateway.web.records.kit.fields import Field
from gateway.web.records.routes import RECORDS
from schema.languages.speech import Speech, speaking
from schema.values.prose import write_amount
from storage.enums import Currency
from tests.support.browsers.in_browser import opened, sign_in_unseen
from tests.support.servers.live import serve

NARROW, NO_BREAK, THIN, MINUS, QUOTE = "\u202f", "\u00a0", "\u2009", "\u2212", "\u2019"
CENTS = {
    # Plain, and with either separator as the fraction's.
    "0": 0,
    "7": 700,
    "15": 1500,
    "007": 700,
    "1250": 125000,
    "1000000": 100000000,
    "12,5": 1250,
    "12.5": 1250,
    "12,50": 1250,
    "12.50": 1250,
    "0,01": 1,
    "0.01": 1,
    "0,5": 50,
    ".5": 50,
    ",5": 50,
    ".05": 5,
    ",99": 99,
    "1250,00": 125000,
    "1250.00": 125000,
    "99,9": 9990,
    # Groups of three.
    "1,250": 125000,
    "1.250": 125000,
    "1 250": 125000,
    "1'250": 125000,
    f"1{QUOTE}250": 125000,
    f"1{NO_BREAK}250": 125000,
    f"1{NARROW}250": 125000,
    f"1{THIN}250": 125000,
    "1,250.00": 125000,
    "1.250,00": 125000,
    "1 250,00": 125000,
    "1 250.00": 125000,
    "1'250.00": 125000,
    "1'250,00": 125000,
    f"1{NARROW}250,00": 125000,
    f"1{NO_BREAK}250,5": 125050,
    "12,345": 1234500,
    "123,456": 12345600,
    "123.456": 12345600,
    "123 456,7": 12345670,
    "1,234,567": 123456700,
    "1.234.567": 123456700,
    "1 234 567": 123456700,
    "1'234'567": 123456700,
    "1,234,567.89": 123456789,
    "1.234.567,89": 123456789,
    "1 234 567,89": 123456789,
    "1,234,567.8": 123456780,
    f"1{NARROW}234{NARROW}567,89": 123456789,
    # Those of India.
    "1,23,456": 12345600,
    "1,23,456.50": 12345650,
    "12,34,567": 123456700,
    "1,00,00,000": 1000000000,
    # Signs.
    "-5": -500,
    "+5": 500,
    f"{MINUS}5": -500,
    "-12,50": -1250,
    "-1,250.00": -125000,
    "- 5": -500,
    # The currency's sign or code on one side.
    "$12.50": 1250,
    "$ 12.50": 1250,
    "12.50$": 1250,
    "12,50 $": 1250,
    "US$12.50": 1250,
    "us$ 5": 500,
    "12.50 USD": 1250,
    "USD 12.50": 1250,
    "usd12.50": 1250,
    "12.50usd": 1250,
    "$1,250": 125000,
    "-$12.50": -1250,
    "$-12.50": -1250,
    "$.50": 50,
    f"${NO_BREAK}12.50": 1250,
    f"{MINUS}$5": -500,
    # Around it.
    " 5 ": 500,
    "\t5\n": 500,
    f"{NO_BREAK}5{NO_BREAK}": 500,
    # Everything else.
    **dict.fromkeys(
        ["", " ", ".", ",", "-", "+", "$", "USD", "ten", "1e3", "1E3", "0x10", "NaN", "Infinity"]
    ),
    **dict.fromkeys(["12.", "12,", "1,2,3", "1.2.3", "1 2 3", "12,34,56", "12.345,678", "1.25.0", "1,,250"]),
    **dict.fromkeys(["1,250,00", "1.250.00", "1 250 00", "1,250.000", "1.250,000", "12.505,5.5", "1,2345"]),
    **dict.fromkeys(["12.3456", "0.001", "0,001", "0.500", "0,500", "01,250", "1,250'000", "1'250,000.5"]),
    **dict.fromkeys(["--5", "5-", "+-5", "(5)", "5%", "5/2", "5*2", "1_000", "1;5", "5c", "12$50", "$5$"]),
    **dict.fromkeys(["€5", "5 EUR", "£5", "5 kr", "R$5", "\u0663", "\uff15", "\u096b", "\u4e94", "5\x00"]),
    **dict.fromkeys(["9" * 17, "9" * 60, "1e999999", "1,250 , 00", "1 ,250", "1. 5", "\u00bd", "1\n2"]),
}
OTHERS = {
    "jpy": {
        "1900": 1900,
        "1,900": 1900,
        "1.900": 1900,
        "\u00a51,900": 1900,
        "1900\u5186": 1900,
        "1 900": 1900,
        "\uffe5500": 500,
        "JPY 500": 500,
        "12.5": None,
        "12,50": None,
        "1,900.00": None,
    },
    "chf": {"CHF 12.50": 1250, "Fr. 12.50": 1250, "12.50 Fr.": 1250, "SFr. 5": 500, "1'250.05": 125005},
    "sek": {"12,50 kr": 1250, "12 kr.": 1200, "SEK 1 250,50": 125050, "1.250:-": None},
    "eur": {"12,50 \u20ac": 1250, "\u20ac12.50": 1250, "EUR 1.250,00": 125000, "$5": None},
    "inr": {"\u20b91,23,456.00": 12345600, "Rs. 500": 50000, "Rs 500": 50000},
    "gbp": {"\u00a312.50": 1250, "12.50 GBP": 1250},
    "brl": {"R$ 1.250,00": 125000, "R$12,5": 1250},
    "cad": {"$5": 500, "CA$5.25": 525, "C$5": 500},
    "aud": {"A$5": 500, "AU$5": 500, "$5": 500},
}
TABLE = [("usd", *row) for row in CENTS.items()] + [
    (currency, *row) for currency, rows in OTHERS.items() for row in rows.items()
]


def understood(text: str, currency: str) -> int | None:
    try:
        return read_amount(text, currency)
    except AmountRefused:
        return None


def test_every_text_is_understood_as_people_mean_it_or_refused() -> None:
    assert len(TABLE) >= 180
    wrong = {
        (currency, text): read
        for currency, text, amount in TABLE
        if (read := understood(text, currency)) != amount
    }
    assert wrong == {}


@given(st.sampled_from(LOCALES), st.sampled_from(Currency), st.integers(-(10**15), 10**15))
def test_what_a_page_writes_it_reads_back(locale: str, currency: Currency, amount: int) -> None:
    with speaking(Speech(locale=locale)):
        assert read_amount(write_amount(amount, currency.value), currency.value) == amount
        assert read_amount(major_units(amount, currency.value), currency.value) == amount


@given(st.sampled_from(Currency), st.text(st.sampled_from("0123456789.,' -$\u20ac"), max_size=20))
def test_no_text_is_understood_as_a_thousand_times_what_another_reader_sees(
    currency: Currency, text: str
) -> None:
    """The digits of what was understood are those that were typed, with zeros for places left out."""
    amount = understood(text, currency.value)
    if amount is not None:
        typed = re.sub(r"[^0-9]", "", text).lstrip("0")
        written = str(abs(amount)).lstrip("0")
        assert written.startswith(typed)
        assert set(written[len(typed) :]) <= {"0"}


@pytest.mark.parametrize(
    ("text", "currency", "message"),
    [
        ("ten", "eur", "Enter an amount, such as 15.00"),
        ("ten", "jpy", "Enter an amount, such as 1500"),
        ("12.5051", "usd", "An amount in USD has at most 2 decimal places: enter one such as 15.00"),
        ("1.5", "jpy", "An amount in JPY has no decimal places: enter one such as 1500"),
        ("\u20ac5", "usd", "Amounts here are in USD: leave out the other currency"),
        ("1" * 17, "usd", "Enter an amount of at most $10,000,000,000,000.00"),
    ],
)
def test_a_refusal_says_what_to_enter(text: str, currency: str, message: str) -> None:
    with pytest.raises(AmountRefused, match=f"^{re.escape(message)}$"):
        read_amount(text, currency)


def test_an_amount_that_can_be_read_in_two_ways_is_refused_with_both(monkeypatch) -> None:
    # No currency here has three decimal places yet, as Kuwait's has.
    monkeypatch.setattr(amounts, "exponent_of", lambda currency: 3)
    with pytest.raises(AmountRefused, match=r"^This can be read in two ways: enter 1\.250 or 1250\.000$"):
        read_amount("1,250", "kwd")


def hints(fields: tuple[Field, ...]) -> list[str]:
    return [hint for each in fields for hint in (each.hint, *hints(each.parts))]


def test_no_form_speaks_of_minor_units() -> None:
    tasks = [
        task
        for records in RECORDS
        for task in (records.create, records.change, *records.tasks.values())
        if task is not None
    ]
    spoken = [hint for task in tasks for hint in hints(task.fields)]
    assert len(tasks) > 10
    assert [hint for hint in spoken if "minor" in hint.lower()] == []


async def test_a_share_is_sold_for_what_was_typed_with_a_comma(signed_in_browser, tenant, rest) -> None:
    await signed_in_browser.open(f"/{tenant.slug}/shares/new")
    price = {"prices.0.amount_type": "fixed", "prices.0.price_currency": "eur"}
    await signed_in_browser.press("Create share", name="Card", **price, **{"prices.0.price_amount": "12,50"})
    (share,) = (await rest.list_shares())["data"]
    assert [(price["price_amount"], price["price_currency"]) for price in share["prices"]] == [(1250, "eur")]


async def test_a_refund_that_is_too_large_is_told_in_the_payments_currency(
    signed_in_browser, tenant, rest
) -> None:
    share = await rest.create_share(data={"name": "Card", "prices": [{"amount_type": "free"}]})
    session = await rest.create_file_share_session(data={"share_id": share["id"], "file_size_bytes": 7})
    payment = await rest.record_payment(id=session["id"], data={"amount": 2500, "currency": "usd"})
    await signed_in_browser.open(f"/{tenant.slug}/payments/{payment['id']}/refund")
    page = await signed_in_browser.press("Refund payment", amount="99")
    assert "Only $25.00 of the payment" in page.text
    assert "2500" not in page.text


async def test_a_form_shows_what_it_understands_before_it_is_sent(chromium, tmp_path) -> None:
    with serve(f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite", tmp_path / "objects") as (address, tenant):
        async with opened(chromium, address) as page:
            await sign_in_unseen(page, address, tenant)
            await page.goto(f"{address}/{tenant.slug}/shares/new")
            await page.get_by_label("Amount", exact=False).first.fill("12,50")
            await page.locator("output.amount", has_text="= $12.50").wait_for()
            await page.get_by_label("Currency", exact=False).first.select_option("EUR")
            await page.locator("output.amount", has_text="= €12.50").wait_for()
            await page.get_by_label("Amount", exact=False).first.fill("1e3")
            await page.locator("output.amount", has_text="Enter an amount, such as 15.00").wait_for()
