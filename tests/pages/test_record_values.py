"""What forms of records make of declared fields and of what people enter."""

from typing import Annotated

import pytest
from pydantic import Field as Declared

from gateway.web.kit.forms import Form
from gateway.web.records.kit.cells import Cell, Shown, cell_of
from gateway.web.records.kit.fields import fields_of
from gateway.web.records.kit.values import filled, read
from schema.kit.base import Input, Output, Update
from schema.kit.metadata import Metadata
from schema.values.scalars import Bool, DateInput, Email, Int, Url
from schema.values.units import Money, MoneyInput, Size
from storage.enums import Currency, Visibility


class Part(Input):
    line: str | None = None


class Everything(Input):
    """One field of each kind, as a resource could get it tomorrow."""

    name: Annotated[str, Declared(max_length=50)]
    text: Annotated[str | None, Declared(max_length=65_536)] = None
    email: Email | None = None
    site: Url | None = None
    day: DateInput | None = None
    count: Int | None = None
    amount: Annotated[MoneyInput | None, Declared(description="What it costs.")] = None
    currency: Currency | None = None
    visibility: Visibility = Visibility.DRAFT
    is_open: Bool = False
    part: Part | None = None
    parts: list[Part] = Declared(default_factory=list)
    metadata: Metadata


SENT = {
    "name": ["A name"],
    "text": ["one\r\ntwo"],
    "email": ["ada@example.com"],
    "site": ["https://example.com"],
    "day": ["2026-01-31"],
    "count": ["12"],
    "amount": ["1,234.5"],
    "currency": ["eur"],
    "visibility": ["public"],
    "is_open": ["on"],
    "part.line": ["a"],
    "parts.0.line": [""],
    "parts.3.line": ["b"],
    "metadata.0.key": ["n"],
    "metadata.0.value": ["12"],
    "metadata.0.kind": ["number"],
}
DATA = {
    "name": "A name",
    "text": "one\ntwo",
    "email": "ada@example.com",
    "site": "https://example.com",
    "day": "2026-01-31",
    "count": 12,
    "amount": 123450,
    "currency": "eur",
    "visibility": "public",
    "is_open": True,
    "part": {"line": "a"},
    "parts": [{"line": "b"}],
    "metadata": {"n": 12},
}


def test_a_new_field_of_any_kind_gets_a_control_without_being_declared_for_pages():
    kinds = {each.name: each.kind for each in fields_of(Everything)}
    assert kinds == {
        "name": "text",
        "text": "area",
        "email": "email",
        "site": "url",
        "day": "date",
        "count": "integer",
        "amount": "money",
        "currency": "choice",
        "visibility": "choice",
        "is_open": "checkbox",
        "part": "group",
        "parts": "rows",
        "metadata": "pairs",
    }


class Reworded(Input):
    """Money by its type alone, beside an integer that only its words make an amount."""

    refund: Annotated[MoneyInput | None, Declared(description="What goes back, in cents.")] = None
    count: Annotated[Int | None, Declared(description="An amount in minor units.")] = None
    paid_in: Currency


class Paid(Output):
    """What pages show of the same."""

    paid: Annotated[Money, Declared(description="What came in, in cents.")]
    count: Annotated[int, Declared(description="An amount in minor units.")]
    content: Annotated[Size, Declared(description="How long it is.")]
    paid_in: Currency


def test_a_number_is_money_by_its_type_and_not_by_its_description():
    refund, count, _ = fields_of(Reworded)
    assert (refund.kind, refund.currency) == ("money", "paid_in")
    assert count.kind == "integer"


def test_a_number_is_shown_by_its_type_and_not_by_its_description_or_name():
    paid = Paid(paid=150, count=150, content=2048, paid_in=Currency.EUR)
    cells = [cell_of(paid, name, Shown("")) for name in ("paid", "count", "content")]
    assert cells == [
        Cell("figure", "€1.50", number="1.50", unit="EUR"),
        Cell("figure", "150", number="150"),
        Cell("figure", "2.0 KB", number="2048", unit="bytes"),
    ]


def test_an_amount_without_a_currency_is_shown_as_it_is_stored():
    class Unpaid(Paid):
        paid_in: Currency | None = None

    unpaid = Unpaid(paid=150, count=0, content=0)
    assert cell_of(unpaid, "paid", Shown("")) == Cell("figure", "150")


def test_a_form_is_read_as_the_data_of_the_api_and_filled_with_it():
    fields = fields_of(Everything)
    reading = read(Form(SENT), fields)
    assert reading.data == DATA
    assert reading.problems == []
    again = read(Form(filled(fields, DATA)), fields)
    assert again.data == DATA


def test_empty_fields_are_left_out_of_a_creation_and_cleared_by_a_change():
    class Change(Update):
        clears = frozenset({"text"})

        text: str | None
        name: str | None

    assert read(Form({}), fields_of(Everything)).data == {
        "name": "",
        "is_open": False,
        "parts": [],
        "metadata": {},
    }
    assert read(Form({"text": [""], "name": [""]}), fields_of(Change)).data == {"text": None, "name": ""}


@pytest.mark.parametrize("text", ["1e999999", "nan", "inf", "", "twelve"])
def test_a_number_of_metadata_that_is_none_is_refused_at_its_row(text):
    sent = {"metadata.0.key": ["n"], "metadata.0.value": [text], "metadata.0.kind": ["number"]}
    reading = read(Form(sent), fields_of(Everything))
    [problem] = reading.problems
    assert problem["loc"] == ["data", "metadata", 0, "value"]
