"""Amounts as people type them into forms: with either decimal separator, groups, and the currency's sign.

A text is never guessed: one that can be read in two ways is refused with both, and so is anything else.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from babel.numbers import get_currency_symbol

from schema.languages.speech import babel_locale
from schema.values.prose import write_amount
from storage.enums import Currency

DEFAULT_EXPONENT = 2
LARGEST = 10**15
LONGEST = 50

_SPACES = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
_APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
_DECIMAL_SEPARATORS = ",."
_GROUP_SEPARATORS = f"{_DECIMAL_SEPARATORS}{_SPACES}{_APOSTROPHES}"
_SIGNS = {"-": -1, "\N{MINUS SIGN}": -1, "+": 1}
_SIGNED = re.compile(rf"([{re.escape(''.join(_SIGNS))}]?)([0-9{re.escape(_GROUP_SEPARATORS)}]+)")
_WORD = re.compile(rf"[^0-9{re.escape(_GROUP_SEPARATORS)}{re.escape(''.join(_SIGNS))}]+(?:\.(?![0-9]))?")
# How people write each currency besides its code, in lower case.
SIGNS_OF_CURRENCIES: Mapping[str, tuple[str, ...]] = {
    "aud": ("$", "a$", "au$"),
    "brl": ("r$", "br$"),
    "cad": ("$", "c$", "ca$"),
    "chf": ("fr", "fr.", "sfr", "sfr."),
    "eur": ("\N{EURO SIGN}",),
    "gbp": ("\N{POUND SIGN}",),
    "inr": ("\N{INDIAN RUPEE SIGN}", "rs", "rs."),
    "jpy": ("\N{YEN SIGN}", "\N{FULLWIDTH YEN SIGN}", "jp\N{YEN SIGN}", "\N{CJK UNIFIED IDEOGRAPH-5186}"),
    "sek": ("kr", "kr."),
    "usd": ("$", "us$"),
}
# Groups of three, or those of India: two digits each before the last three.
_GROUPED = re.compile(
    rf"[1-9][0-9]{{0,2}}([{re.escape(_GROUP_SEPARATORS)}])[0-9]{{3}}(?:\1[0-9]{{3}})*"
    rf"|[1-9][0-9]?([{re.escape(_GROUP_SEPARATORS)}])(?:[0-9]{{2}}\2)+[0-9]{{3}}"
)


class AmountRefused(ValueError):
    """The text is no amount of the currency; the message says why and what to enter."""


def exponent_of(currency: str) -> int:
    """The decimal places of the currency's amounts."""
    known = {each.value: each.exponent for each in Currency}
    return known.get(currency, DEFAULT_EXPONENT)


def read_amount(text: str, currency: str) -> int:
    """An amount such as `12,50`, `$1,234.50` or `1 234,50 EUR` in minor units. Raises `AmountRefused`."""
    places = exponent_of(currency)
    number = _without_currency(text.strip(), currency) if len(text) <= LONGEST else ""
    matched = _SIGNED.fullmatch(number)
    if matched is None:
        raise AmountRefused(f"Enter an amount, such as {_example(currency)}")
    readings = sorted(set(_readings(matched[2].strip(), places)))
    if len(readings) > 1:
        both = " or ".join(major_units(reading, currency) for reading in readings)
        raise AmountRefused(f"This can be read in two ways: enter {both}")
    if not readings:
        raise AmountRefused(_why_not(matched[2], currency, places))
    amount = _SIGNS.get(matched[1], 1) * readings[0]
    if abs(amount) > LARGEST:
        raise AmountRefused(f"Enter an amount of at most {write_amount(LARGEST, currency or 'usd')}")
    return amount


def major_units(amount: int, currency: str) -> str:
    """An amount as a form has it: `15.00`, or `1500` in a currency without decimal places.

    It has no groups, and the decimal separator of the page.
    """
    exponent = exponent_of(currency)
    text = f"{Decimal(amount).scaleb(-exponent):.{exponent}f}"
    separator = str(babel_locale().number_symbols["latn"]["decimal"])
    return text.replace(".", separator) if separator in _DECIMAL_SEPARATORS else text


def _example(currency: str) -> str:
    return major_units(1500, currency)


def _readings(number: str, places: int) -> Iterator[int]:
    """In minor units, each way in which the digits and separators can be read."""
    if number.isdecimal():
        yield int(number) * 10**places
        return
    if _GROUPED.fullmatch(number):
        yield int(_digits(number)) * 10**places
    whole, separator, fraction = _parted(number)
    is_plain = whole.isdecimal() or whole == ""
    if separator and 1 <= len(fraction) <= places and (is_plain or _is_grouped(whole, separator)):
        yield int(_digits(whole) or "0") * 10**places + int(fraction.ljust(places, "0"))


def _parted(number: str) -> tuple[str, str, str]:
    """What stands before the last point or comma, that separator, and the digits behind it."""
    at = max(number.rfind(separator) for separator in _DECIMAL_SEPARATORS)
    if at < 0 or not number[at + 1 :].isdecimal():
        return number, "", ""
    return number[:at], number[at], number[at + 1 :]


def _is_grouped(whole: str, decimal_separator: str) -> bool:
    return _GROUPED.fullmatch(whole) is not None and decimal_separator not in whole


def _digits(number: str) -> str:
    return re.sub(r"[^0-9]", "", number)


def _why_not(number: str, currency: str, places: int) -> str:
    _, separator, fraction = _parted(number)
    if separator and len(fraction) > places:
        of = f"in {currency.upper()} " if currency else ""
        most = f"at most {places} decimal places" if places else "no decimal places"
        return f"An amount {of}has {most}: enter one such as {_example(currency)}"
    return f"Enter an amount, such as {_example(currency)}"


def _without_currency(text: str, currency: str) -> str:
    """The text without the currency's code or sign on one of its sides. Raises for another currency's."""
    signs = (currency, *SIGNS_OF_CURRENCIES.get(currency, ()))
    sign = str(get_currency_symbol(currency.upper(), babel_locale())) if currency else ""
    if sign.casefold() not in signs:
        # As the page itself writes it, perhaps with a space: `$ US`.
        text = text.replace(sign, currency, 1) if sign else text
    written = _WORD.search(text.casefold())
    if written is None:
        return text
    if written[0] not in signs:
        if currency and any(written[0] in (other, *signs) for other, signs in SIGNS_OF_CURRENCIES.items()):
            raise AmountRefused(f"Amounts here are in {currency.upper()}: leave out the other currency")
        return text
    before, after = text[: written.start()].strip(), text[written.end() :].strip()
    # With digits on both sides the sign stands for a decimal separator, which is not read.
    return text if before.strip("".join(_SIGNS)) and after else before + after
