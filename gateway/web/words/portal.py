"""Texts of the portal beyond `schema.values.prose`: prices, purchases, countries and hosts of links."""

import unicodedata
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import SplitResult, urlsplit

import pycountry
from markupsafe import Markup

from schema.languages.speech import babel_locale, current_speech, gettext, ngettext, noted
from schema.portal.portal import PortalFileShareSession
from schema.shares.prices import Price
from schema.values.app_links import opens_an_app
from schema.values.prose import write_amount, write_day, write_moment, write_size
from storage.enums import Currency, FileShareSessionStatus, Language, PriceAmountType

COUNTRIES: tuple[tuple[str, str], ...] = (
    ("", noted("Not specified")),
    *sorted(((country.alpha_2, country.name) for country in pycountry.countries), key=lambda pair: pair[1]),
)


def countries() -> list[tuple[str, str]]:
    """The options of a country, with their names in the language of the page."""
    if current_speech().language is Language.EN:
        return list(COUNTRIES)
    names = babel_locale().territories
    named = [(code, names.get(code, name)) for code, name in COUNTRIES[1:]]
    return [("", gettext(COUNTRIES[0][1])), *sorted(named, key=lambda pair: _without_accents(pair[1]))]


def country(code: str) -> str:
    """The name of a country in the language of the page."""
    return dict(countries()).get(code, code)


def _without_accents(text: str) -> str:
    """A key that keeps `Österreich` with the other names that begin with O."""
    parts = unicodedata.normalize("NFD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def price(offer: Price) -> str:
    """`€15.00`, `Free`, or the bounds of an amount that the buyer chooses."""
    if offer.amount_type is PriceAmountType.FREE:
        return gettext("Free")
    currency = offer.price_currency or Currency.USD
    if offer.price_amount is not None:
        return write_amount(offer.price_amount, currency)
    least, most = write_amount(offer.minimum_amount or 0, currency), ""
    if offer.maximum_amount is not None:
        most = write_amount(offer.maximum_amount, currency)
    if offer.minimum_amount and most:
        return gettext("%(least)s to %(most)s", least=least, most=most)
    if offer.minimum_amount:
        return gettext("%(least)s or more", least=least)
    return gettext("Up to %(most)s", most=most) if most else gettext("Pay what you want")


def paid(purchase: PortalFileShareSession) -> str:
    """`€15.00`, `Free`, and what is left to pay, or that it was refunded."""
    if not purchase.price_amount:
        return gettext("Free")
    amount = write_amount(purchase.price_amount, purchase.price_currency or Currency.USD)
    if not purchase.left_to_pay:
        return amount
    if not purchase.payments:
        return gettext("%(amount)s, not paid yet", amount=amount)
    if _is_refunded(purchase):
        return gettext("%(amount)s, refunded", amount=amount)
    return gettext("%(amount)s, %(left)s left to pay", amount=amount, left=_left(purchase))


def _is_refunded(purchase: PortalFileShareSession) -> bool:
    """Whether all payments were refunded in full."""
    payments = purchase.payments
    return bool(payments) and all(each.amount and each.refunded_amount >= each.amount for each in payments)


def _left(purchase: PortalFileShareSession) -> str:
    return write_amount(purchase.left_to_pay, purchase.price_currency or Currency.USD)


def contents(purchase: PortalFileShareSession) -> str:
    """`2 files, 4.2 MB`, or why there is nothing to open."""
    if not purchase.can_download:
        is_over = purchase.status is FileShareSessionStatus.EXPIRED
        return gettext("Expired") if is_over else gettext("Not available")
    if not purchase.files:
        return gettext("No files yet")
    size = write_size(sum(file.size for file in purchase.files))
    return ngettext("%(num)s file, %(size)s", "%(num)s files, %(size)s", len(purchase.files), size=size)


def downloads(number: int) -> str:
    return ngettext("%(num)s download", "%(num)s downloads", number)


def earlier_downloads(number: int) -> str:
    return ngettext("And %(num)s earlier download.", "And %(num)s earlier downloads.", number)


def dated(moment: datetime) -> Markup:
    """A day as HTML."""
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(), write_day(moment))


def why_closed(purchase: PortalFileShareSession) -> str:
    """Why the files of the purchase cannot be downloaded now."""
    if purchase.status is FileShareSessionStatus.EXPIRED:
        return gettext("Access to these files has expired.")
    if _is_refunded(purchase):
        return gettext("The payment was refunded, so the files are no longer available.")
    if purchase.payments:
        left = _left(purchase)
        return gettext("You can download the files once the price is paid: %(left)s left to pay.", left=left)
    return gettext("You can download the files once the payment has arrived.")


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


def way_back(url: str) -> str:
    """The words of the link back."""
    return gettext("Back to %(host)s", host=host(url)) if is_web(url) else gettext("Back to the app")


WORDS: Mapping[str, Callable[..., Any]] = {
    "money": write_amount,
    "price": price,
    "paid": paid,
    "contents": contents,
    "downloads": downloads,
    "earlier_downloads": earlier_downloads,
    "why_closed": why_closed,
    "moment": write_moment,
    "day": write_day,
    "dated": dated,
    "host": host,
    "is_web": is_web,
    "is_back": is_back,
    "way_back": way_back,
}
