"""Values that an operation is likely to accept, by the name of their field, else by its type."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from inspect import isclass
from random import Random
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel

from schema.kit.annotations import unwrap
from schema.kit.base import Update
from schema.shares.prices import PriceInput
from tests.parity.homes import Home

MOMENTS = [
    "2026-01-31T09:30:00Z",
    "2026-02-03T23:59:59.999999Z",
    "2026-02-01T00:30:00+02:00",
    "2026-03-01T12:00:00.5-03:30",
]
DATES = ["2025-12-31", "2026-01-01", "2026-01-31", "2026-02-28", "2026-03-29"]
ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu"]
URLS = ["https://example.com/a?b=c#d", "http://localhost:3000/back"]
SCHEMES = [["myapp"], ["myapp", "com.example.app"], []]
SCOPES = ["shares:read", "customers:read", "files:read"]
METADATA: list[dict[str, Any]] = [{}, {"plan": "pro", "seats": 3}, {"ok": True, "rate": 0.5, "ü": "✓"}]
NAMES = ["A name", "Ünï ✓ name", "Annual report 2026", " Padded name "]
# Parts of names and addresses that the homes have, and one that they have not.
QUERIES = ["report", "Ada", "example.com", "ü", "nothing of this name"]
CODES = ["a-slug", "Another-Slug"]
ADDRESSES: list[dict[str, Any]] = [
    {"line1": "1 Street", "city": "Paris", "country": "FR"},
    {"line1": None, "postal_code": "10115", "city": "Berlin", "country": "DE"},
    {"state": "CA", "country": "US"},
]
OF_KIND = {
    "workspace_id": "workspace",
    "share_id": "share",
    "customer_id": "customer",
    "member_id": "member",
    "custom_field_id": "custom_field",
    "medias": "media",
    "downloads": "file",
    "ids": "file",
    "file_share_session_id": "session",
    "file_share_payment_id": "payment",
    "created_by": "user",
    "user_id": "user",
    "id": "share",
}
EXTERNAL_IDS = {
    "list_file_share_sessions": "session",
    "list_file_share_downloads": "download",
    "list_file_share_payments": "payment",
    "list_file_share_refunds": "refund",
    "list_events": "event",
}


@dataclass
class Values:
    """Draws values for a home; the same draws give another home what stands there in the same place.

    `unique` is a text that no other case has.
    """

    home: Home
    random: Random
    operation: str
    unique: str

    def of(self, name: str, annotation: Any) -> Any:
        type_ = unwrap(annotation)
        if get_origin(type_) is list:
            return self._list(name, type_)
        made = self._by_name(name)
        return self._by_type(name, type_) if made is None else made

    def data(self, model: type[BaseModel], example: dict[str, Any], kept: frozenset[str]) -> dict[str, Any]:
        """A body: that of the example, with other values for some fields and optional ones in addition."""
        data = dict(example)
        for name, field in model.model_fields.items():
            # What has to be unique is never the example's.
            is_needed = field.is_required() and (name not in example or name in {"email", "slug"})
            if name not in kept and self.random.random() < (1.0 if is_needed else 0.4):
                nullable = issubclass(model, Update) or NoneType in _types_in(field.annotation)
                is_null = nullable and self.random.random() < 0.15
                data[name] = None if is_null else self.of(name, field.annotation)
        return data

    def one_of(self, values: Any) -> Any:
        return self.random.choice(list(values))

    def moment(self) -> str:
        """A fixed moment or, for a read, one at which something in the home was made."""
        own = self.home.moments if self.operation.startswith("list_") else []
        return str(self.one_of([*MOMENTS, *own]))

    def _list(self, name: str, type_: Any) -> list[Any]:
        if name == "prices":
            return [self._price()]
        if name == "return_url_schemes":
            return list(self.one_of(SCHEMES))
        if name == "redirect_uris":
            return [f"{scheme}://127.0.0.1/callback" for scheme in ("https", "http")][
                : self.random.randint(1, 2)
            ]
        if name == "scopes":
            return self.random.sample(
                ["shares:read", "customers:read", "files:read"], self.random.randint(1, 3)
            )
        if name in EXTERNAL_IDS.values() or name == "external_id":
            kind = EXTERNAL_IDS.get(self.operation, "session")
            return [f"{kind}-{number}" for number in self.random.sample(range(10), 2)]
        (item,) = get_args(type_)
        many = self.random.randint(1, 2)
        items = [self.of(name, item) for _ in range(many)]
        return [each for place, each in enumerate(items) if each not in items[:place]]

    def _by_name(self, name: str) -> Any:
        if name == "parent_id" and self.operation == "ingest_events":
            return self.one_of(["event-0", "event-4", self.home.ids["event"][2]])
        if name == "id" and self.operation == "list_customers":
            return self.one_of(self.home.ids["customer"])
        if name in OF_KIND and (kind := OF_KIND[name]) in self.home.ids:
            return self.one_of(self.home.ids[kind])
        drawn: dict[str, Any] = {
            "email": f"of-{self.unique}@example.com",
            "external_id": f"of-{self.unique}",
            "slug": f"{self.home.tenant.slug}-{self.unique}"
            if "workspace" in self.operation
            else self.unique,
            "external_customer_id": self.one_of(["person-0", "person-1", "stranger"]),
            "external_member_id": self.one_of(["helper", "owner"]),
            "return_url": self.one_of([*URLS, "myapp://back", "myapp://back?ok=1"]),
            "timezone": self.one_of(ZONES),
            "metadata": self.one_of(METADATA),
            "billing_address": self.one_of(ADDRESSES),
            "query": self.one_of(QUERIES),
            "name": self.one_of(QUERIES if self.operation.startswith("list_") else NAMES),
            "expires_in": self.one_of([3600, 86_400, 30 * 86_400]),
            "amount": self.one_of([1, 7, 100, 500]),
            "platform_fee": self.one_of([0, 1]),
            "top": self.one_of([1, 2, 10, 100]),
            "limit": self.one_of([1, 2, 3, 10, 100]),
            "page": self.one_of([1, 1, 2, 3]),
        }
        return drawn.get(name)

    def _by_type(self, name: str, type_: Any) -> Any:
        if isclass(type_) and issubclass(type_, Enum):
            return self.one_of(type_).value
        if isclass(type_) and issubclass(type_, BaseModel):
            return self.data(type_, {}, frozenset())
        if type_ is bool:
            return self.random.random() < 0.5
        if type_ is int:
            return self.one_of([0, 1, 7, 1500, 99_999])
        if type_ in (float, Decimal):
            return self.one_of([0, 1.5, "12.25", 7])
        if type_ is datetime:
            return self.moment()
        if type_ is date:
            return self.one_of(DATES)
        if get_origin(type_) is dict:
            return self.one_of(METADATA)
        if type_ is UUID:
            return self.one_of(self.home.ids["event" if name == "parent_id" else "share"])
        return self.one_of(URLS if "url" in name or "uri" in name or name == "website" else NAMES)

    def _price(self) -> dict[str, Any]:
        currency = {"price_currency": self.one_of(["usd", "eur", "jpy"])}
        kinds = [
            {"amount_type": "free"},
            {"amount_type": "fixed", "price_amount": self.one_of([1, 900, 99_999_999])},
            {"amount_type": "fixed", "price_amount": 1500, **currency},
            {"amount_type": "custom", "minimum_amount": 100, "preset_amount": 500, **currency},
            {"amount_type": "custom", "maximum_amount": 900},
        ]
        price: dict[str, Any] = self.one_of(kinds)
        assert price.keys() <= PriceInput.model_fields.keys()
        return price


def _types_in(annotation: Any) -> Iterator[Any]:
    """The types in an annotation, through its wrappers and unions."""
    if get_origin(annotation) in (Annotated, Union, UnionType):
        for argument in get_args(annotation):
            yield from _types_in(argument)
    else:
        yield annotation
