"""Texts of the portal beyond `schema.values.prose`: prices, purchases, countries and hosts of links."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

import pycountry

from schema.portal.portal import PortalFileShareSession
from schema.shares.prices import Price
from schema.values.app_links import opens_an_app
from schema.values.prose import write_amount, write_day, write_moment, write_size
from storage.enums import Currency, FileShareSessionStatus, PriceAmountType

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


def paid(purchase: PortalFileShareSession) -> str:
    """`€15.00`, `Free`, and what is left to pay, or that it was refunded."""
    if not purchase.price_amount:
        return "Free"
    amount = write_amount(purchase.price_amount, purchase.price_currency or Currency.USD)
    if not purchase.left_to_pay:
        return amount
    if not purchase.payments:
        return f"{amount}, not paid yet"
    return f"{amount}, refunded" if _is_refunded(purchase) else f"{amount}, {_left(purchase)}"


def _is_refunded(purchase: PortalFileShareSession) -> bool:
    """Whether all payments were refunded in full."""
    payments = purchase.payments
    return bool(payments) and all(each.amount and each.refunded_amount >= each.amount for each in payments)


def _left(purchase: PortalFileShareSession) -> str:
    """`€5.00 left to pay`."""
    return f"{write_amount(purchase.left_to_pay, purchase.price_currency or Currency.USD)} left to pay"


def contents(purchase: PortalFileShareSession) -> str:
    """`2 files, 4.2 MB`, or why there is nothing to open."""
    if not purchase.can_download:
        return "Expired" if purchase.status is FileShareSessionStatus.EXPIRED else "Not available"
    if not purchase.files:
        return "No files yet"
    number = len(purchase.files)
    size = write_size(sum(file.size for file in purchase.files))
    return f"{number} {'file' if number == 1 else 'files'}, {size}"


def why_closed(purchase: PortalFileShareSession) -> str:
    """Why the files of the purchase cannot be downloaded now."""
    if purchase.status is FileShareSessionStatus.EXPIRED:
        return "Access to these files has expired."
    if _is_refunded(purchase):
        return "The payment was refunded, so the files are no longer available."
    if purchase.payments:
        return f"You can download the files once the price is paid: {_left(purchase)}."
    return "You can download the files once the payment has arrived."


def host(url: str) -> str:
    """The host of an address, to show where a link leads."""
    parts = parts_of(url)
    return (parts and parts.hostname) or url


def parts_of(url: str) -> SplitResult | None:
    """The parts of an address; None if it has none, as addresses stored before a rule can."""
    try:
        return urlsplit(url)
    except ValueError:
        return None


def is_web(url: str | None) -> bool:
    """Whether a page may link to the address."""
    parts = parts_of(url or "")
    return parts is not None and parts.scheme in ("http", "https")


def is_back(url: str | None) -> bool:
    """Whether the page may link back to the address: on the web, or in an app."""
    return is_web(url) or (url is not None and opens_an_app(url))


def target(url: str) -> str:
    """The words for where the link back leads."""
    return host(url) if is_web(url) else "the app"


WORDS: Mapping[str, Callable[..., Any]] = {
    "money": write_amount,
    "price": price,
    "paid": paid,
    "contents": contents,
    "why_closed": why_closed,
    "size": write_size,
    "moment": write_moment,
    "day": write_day,
    "host": host,
    "is_web": is_web,
    "is_back": is_back,
    "target": target,
}
