"""Texts of the portal beyond `schema.prose`: prices, countries and hosts of links."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import pycountry

from schema.prices import Price
from schema.prose import write_amount, write_day, write_moment, write_size
from storage.enums import Currency, PriceAmountType

COUNTRIES: tuple[tuple[str, str], ...] = (
    ("", "Not specified"),
    *sorted(((country.alpha_2, country.name) for country in pycountry.countries), key=lambda pair: pair[1]),
)


def price(offer: Price) -> str:
    """`€15.00`, `Free`, or the bounds of an amount that the buyer chooses."""
    if offer.amount_type is PriceAmountType.FREE:
        return "Free"
    currency = offer.price_currency or Currency.USD
    if offer.price_amount is not None:
        return write_amount(offer.price_amount, currency)
    lowest, highest = offer.minimum_amount, offer.maximum_amount
    if lowest and highest is not None:
        return f"{write_amount(lowest, currency)} to {write_amount(highest, currency)}"
    if lowest:
        return f"{write_amount(lowest, currency)} or more"
    if highest is not None:
        return f"Up to {write_amount(highest, currency)}"
    return "Pay what you want"


def host(url: str) -> str:
    """The host of an address, to show where a link leads."""
    return urlsplit(url).hostname or url


def is_web(url: str | None) -> bool:
    """Whether a page may link to the address."""
    return url is not None and urlsplit(url).scheme in ("http", "https")


WORDS: Mapping[str, Callable[..., Any]] = {
    "money": write_amount,
    "price": price,
    "size": write_size,
    "moment": write_moment,
    "day": write_day,
    "host": host,
    "is_web": is_web,
}
