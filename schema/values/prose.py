"""Amounts, dates and sizes as people of the page's locale read them; `scalars` writes values for programs."""

from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Literal

from babel import Locale
from babel.dates import format_date, format_time, get_datetime_format
from babel.numbers import format_currency, format_decimal, get_currency_precision, get_currency_symbol
from babel.units import format_unit

from schema.languages.speech import ENGLISH, babel_locale, current_speech

_UNITS_OF_SIZE = ("KB", "MB", "GB", "TB")
_BABEL_UNITS = {"B": "byte", "KB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte"}


def write_amount(amount: int, currency: str) -> str:
    """`amount` in the currency's minor unit, like `$19.00` or `¥1,900`."""
    code, locale = currency.upper(), babel_locale()
    text = format_currency(Decimal(amount).scaleb(-get_currency_precision(code)), code, locale=locale)
    symbol = get_currency_symbol(code, locale)
    # Babel leaves out the space after a currency code in letters.
    before, found, after = text.partition(symbol)
    if symbol[-1].isalpha() and after[:1].isdigit():
        return f"{before}{found}\N{NO-BREAK SPACE}{after}"
    return text


def write_number(number: float, places: int = 0) -> str:
    """Like `1,234` or, with decimal places, `1,234.50`."""
    text = f"{number:,.{places}f}"
    if current_speech().locale == ENGLISH.locale:
        return text
    locale = babel_locale()
    separators, grouping = _separators(locale)
    if grouping != (3, 3):
        whole = locale.decimal_formats[None].pattern.partition(".")[0]
        return format_decimal(number, f"{whole}.{'0' * places}".rstrip("."), locale)
    # A page has thousands of them, for which Babel takes ten times as long.
    return text.translate(separators)


@cache
def _separators(locale: Locale) -> tuple[dict[int, str], tuple[int, int]]:
    """What stands for a comma and a point, and the sizes of the last group and of those before it."""
    symbols = locale.number_symbols["latn"]
    separators = str.maketrans({",": symbols["group"], ".": symbols["decimal"]})
    return separators, locale.decimal_formats[None].grouping


def write_date(day: date) -> str:
    """Like `31 January 2026`."""
    return format_date(day, "d MMMM y" if current_speech().is_english else "long", babel_locale())


def write_day(moment: datetime) -> str:
    """The date in UTC, like `31 January 2026`."""
    return write_date(moment.astimezone(UTC))


def write_moment(moment: datetime) -> str:
    """The date and time in UTC, to the minute, like `31 January 2026, 09:30 UTC`."""
    return f"{joined(write_day(moment), write_time(moment.astimezone(UTC)), 'long')} UTC"


def write_short_moment(moment: datetime) -> str:
    """The date and time in the zone that the moment has, like `31 Jan 2026, 09:30`."""
    pattern = "d MMM y" if current_speech().is_english else "medium"
    return joined(format_date(moment, pattern, babel_locale()), write_time(moment), "medium")


def write_time(moment: datetime) -> str:
    """The time in the zone that the moment has, like `09:30`."""
    pattern = "HH:mm" if current_speech().is_english else "short"
    return format_time(moment, pattern, moment.tzinfo, babel_locale())


def joined(day: str, time: str, length: Literal["long", "medium"]) -> str:
    """A date with a time, as the locale joins them."""
    if current_speech().is_english:
        return f"{day}, {time}"
    pattern = str(get_datetime_format(length, babel_locale())).replace("'", "")
    return pattern.replace("{0}", time).replace("{1}", day)


def write_size(size: int) -> str:
    """Bytes in steps of 1,024: `0 B`, `512 B`, `1.0 KB`, `4.2 MB`; PB is the largest unit."""
    if size < 1024:
        return _with_unit(str(size), size, "B")
    amount = size / 1024
    for unit in _UNITS_OF_SIZE:
        if round(amount, 1) < 1024:
            return _with_unit(f"{amount:.1f}", amount, unit)
        amount /= 1024
    return f"{amount:.1f} PB"


def _with_unit(text: str, amount: float, unit: str) -> str:
    if current_speech().is_english:
        return f"{text} {unit}"
    return format_unit(
        amount, f"digital-{_BABEL_UNITS[unit]}", "short", "0" if unit == "B" else "0.0", babel_locale()
    )
