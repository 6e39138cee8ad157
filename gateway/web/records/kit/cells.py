"""What pages show of a value: its words, and the page that it leads to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from gateway.web.kit.languages import NAMES
from gateway.web.records.kit.fields import fields_with_currencies, titled, unit_of
from gateway.web.words.portal import country, price
from resolvers.operations.shapes.shaped import as_model
from schema.files.files import File
from schema.shares.prices import Price
from schema.values.prose import write_amount, write_number, write_size
from schema.values.units import Unit
from storage.enums import Currency, Language

# Fields with the id of another resource, and the path of that resource's pages.
REFERENCES = {
    "share_id": "shares",
    "customer_id": "customers",
    "file_share_session_id": "sessions",
    "file_share_payment_id": "payments",
    "parent_id": "events",
    "custom_field_id": "custom-fields",
}
# Of these, a page knows the names of those that exist.
NAMED = frozenset({"share_id", "customer_id"})
TITLES = {"created_at": "Created", "modified_at": "Changed", "file_size_bytes": "Size"}
LAST = frozenset({"created_at", "id", "modified_at", "metadata"})
# Values of enumerations that deserve a glance.
GOOD = frozenset({"completed", "public", "active", "owner"})


@dataclass(frozen=True)
class Cell:
    """A value on a page; `kind` is the macro of templates/record_table.html that draws it.

    A `figure` is a number, an amount or a size, whose column is aligned to its end. The value of an `image`,
    and of a `pictured` name, which is the note, is an address. `number` is what a spreadsheet gets in place
    of the value, and `unit` the currency or unit of it. `amounts` are in several currencies; `number` is the
    amount in the first of them.
    """

    kind: str
    value: Any = None
    href: str = ""
    note: str = ""
    number: str = ""
    unit: str = ""


NOTHING = Cell("nothing")


@dataclass
class Shown:
    """The page that shows values: its address' beginning, and the names of what its records refer to.

    `figures` are the cells of records by their ids and metrics.
    """

    base: str
    names: dict[str, str] = field(default_factory=dict)
    figures: dict[tuple[str, str], Cell] = field(default_factory=dict)


Draw = Callable[[Any, Shown], Cell]


@dataclass(frozen=True)
class Column:
    """A column of a table or a row of facts. `draw` takes the record; by default the field is shown."""

    name: str
    label: str = ""
    draw: Draw | None = None

    @property
    def title(self) -> str:
        return self.label or TITLES.get(self.name) or titled(self.name)

    def cell(self, record: Any, shown: Shown) -> Cell:
        model = as_model(record)
        return cell_of(model, self.name, shown) if self.draw is None else self.draw(model, shown)


def facts_of(model: type[BaseModel], columns: Mapping[str, Column], hidden: frozenset[str]) -> list[Column]:
    """A fact for each declared field, in the order of their declaration; those of every record last."""
    names = sorted((name for name in model.model_fields if name not in hidden), key=lambda name: name in LAST)
    return [columns.get(name, Column(name)) for name in names]


def cell_of(record: BaseModel, name: str, shown: Shown) -> Cell:
    """The cell of a record's field."""
    value = getattr(record, name)
    if value is None or value == "" or value in ([], {}):
        return NOTHING
    if name in REFERENCES:
        text = shown.names.get(str(value))
        if text is None and name in NAMED:
            # It has been deleted, and has no page.
            return Cell("code", str(value))
        return Cell("link", text or str(value), f"{shown.base}/{REFERENCES[name]}/{value}")
    unit = unit_of(type(record).model_fields[name])
    if unit is Unit.BYTE:
        return Cell("figure", write_size(value), number=str(value), unit="bytes")
    if unit is Unit.MINOR:
        return money(value, _currency_of(record))
    return _cell(country(value) if name == "country" else value, shown)


def money(amount: int, currency: str | None, text: str = "", kind: str = "figure") -> Cell:
    """An amount in minor units, or `text` in its place, for pages and for spreadsheets."""
    if currency is None:
        return Cell(kind, text or str(amount))
    exponent = Currency(currency).exponent
    number = f"{Decimal(amount).scaleb(-exponent):.{exponent}f}"
    return Cell(kind, text or write_amount(amount, currency), number=number, unit=currency.upper())


def priced(offer: Price) -> Cell:
    """What a share costs; spreadsheets get the number of a fixed price."""
    if offer.price_amount is None:
        return Cell("figure", price(offer))
    return money(offer.price_amount, offer.price_currency, price(offer))


def _cell(value: Any, shown: Shown) -> Cell:
    if isinstance(value, File):
        return _file(value, shown)
    if isinstance(value, BaseModel) and not isinstance(value, Price):
        cells = [
            (titled(name), cell_of(value, name, shown)) for name in type(value).model_fields if name != "id"
        ]
        parts = [(label, cell) for label, cell in cells if cell != NOTHING]
        return Cell("parts", parts) if parts else NOTHING
    if isinstance(value, Sequence) and not isinstance(value, str):
        return Cell("list", [_cell(item, shown) for item in value])
    return next(draw(value) for type_, draw in _SIMPLE if isinstance(value, type_))


# The first that fits: a boolean is an integer, and each enumeration here is a text.
_SIMPLE: tuple[tuple[type, Callable[[Any], Cell]], ...] = (
    (bool, lambda value: Cell("text", "Yes" if value else "No")),
    (int, lambda value: Cell("figure", write_number(value), number=str(value))),
    (Currency, lambda value: Cell("text", value.upper())),
    (Language, lambda value: Cell("text", NAMES[value])),
    (Enum, lambda value: Cell("badge", titled(value.value), note="active" if value.value in GOOD else "")),
    (datetime, lambda value: Cell("moment", value)),
    (UUID, lambda value: Cell("code", str(value))),
    (Mapping, lambda value: Cell("pairs", [(key, _text(item)) for key, item in value.items()])),
    (Price, priced),
    (object, lambda value: Cell("text", str(value))),
)


def _file(file: File, shown: Shown) -> Cell:
    if file.public_url is not None and file.is_uploaded:
        return Cell("image", file.public_url, f"{shown.base}/files/{file.id}", file.name)
    return Cell("link", file.name, f"{shown.base}/files/{file.id}")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "null" if value is None else str(value)


def _currency_of(record: BaseModel) -> str | None:
    values = (getattr(record, name) for name in fields_with_currencies(type(record)))
    return next((value for value in values if value is not None), None)
