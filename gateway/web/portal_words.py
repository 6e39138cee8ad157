"""How the portal writes prices, sizes and moments for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pycountry

from schema.prices import Price
from storage.enums import Currency, PriceAmountType

_SYMBOLS = {
    Currency.AUD: "A$",
    Currency.BRL: "R$",
    Currency.CAD: "CA$",
    Currency.CHF: "CHF ",
    Currency.EUR: "€",
    Currency.INR: "₹",
    Currency.GBP: "£",
    Currency.JPY: "¥",
    Currency.SEK: "SEK ",
    Currency.USD: "$",
}
_UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB")
COUNTRIES: tuple[tuple[str, str], ...] = (
    ("", "Not given"),
    *sorted(((country.alpha_2, country.name) for country in pycountry.countries), key=lambda pair: pair[1]),
)


def money(amount: int, currency: Currency) -> str:
    """Minor units with the currency's symbol: `€1,234.50`, `¥1,500`."""
    digits = 0 if currency is Currency.JPY else 2
    return f"{_SYMBOLS[currency]}{amount / 10**digits:,.{digits}f}"


def price(offer: Price) -> str:
    """`€15.00`, `Free`, or for an amount that the buyer chooses its bounds."""
    if offer.amount_type is PriceAmountType.FREE:
        return "Free"
    currency = offer.price_currency or Currency.USD
    if offer.price_amount is not None:
        return money(offer.price_amount, currency)
    lowest, highest = offer.minimum_amount, offer.maximum_amount
    if lowest and highest is not None:
        return f"{money(lowest, currency)} to {money(highest, currency)}"
    if lowest:
        return f"{money(lowest, currency)} or more"
    if highest is not None:
        return f"Up to {money(highest, currency)}"
    return "Pay what you want"


def size(count: int) -> str:
    """`4.2 MB`, in steps of 1,024."""
    value, place = float(count), 0
    while value >= 1024 and place < len(_UNITS) - 1:
        value, place = value / 1024, place + 1
    return f"{count} {'byte' if count == 1 else 'bytes'}" if place == 0 else f"{value:.1f} {_UNITS[place]}"


def moment(at: datetime) -> str:
    """`31 January 2026, 09:30 UTC`."""
    utc = at.astimezone(UTC)
    return f"{utc.day} {utc:%B %Y, %H:%M} UTC"


def day(at: datetime) -> str:
    utc = at.astimezone(UTC)
    return f"{utc.day} {utc:%B %Y}"


def host(url: str) -> str:
    """What of an address tells people where it leads."""
    return urlsplit(url).hostname or url


def is_web(url: str | None) -> bool:
    """Whether a link may lead there."""
    return url is not None and urlsplit(url).scheme in ("http", "https")


WORDS: Mapping[str, Callable[..., Any]] = {
    "money": money,
    "price": price,
    "size": size,
    "moment": moment,
    "day": day,
    "host": host,
    "is_web": is_web,
}
