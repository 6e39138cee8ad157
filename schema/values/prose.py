"""Amounts, dates and sizes in texts for people; `scalars` writes values for programs."""

from datetime import UTC, datetime
from decimal import Decimal

from babel.dates import format_date
from babel.numbers import format_currency, get_currency_precision, get_currency_symbol

LOCALE = "en_US"

_UNITS_OF_SIZE = ("KB", "MB", "GB", "TB")


def write_amount(amount: int, currency: str) -> str:
    """`amount` in the currency's minor unit, like `$19.00` or `¥1,900`."""
    code = currency.upper()
    value = Decimal(amount).scaleb(-get_currency_precision(code))
    # Babel leaves out the space after a currency code in letters.
    pattern = "¤\N{NO-BREAK SPACE}#,##0.00" if get_currency_symbol(code, LOCALE)[-1].isalpha() else None
    return format_currency(value, code, pattern, LOCALE)


def write_day(moment: datetime) -> str:
    """The date in UTC, like `31 January 2026`."""
    return format_date(moment.astimezone(UTC), "d MMMM y", LOCALE)


def write_moment(moment: datetime) -> str:
    """The date and time in UTC, to the minute, like `31 January 2026, 09:30 UTC`."""
    return f"{write_day(moment)}, {moment.astimezone(UTC):%H:%M} UTC"


def write_size(size: int) -> str:
    """Bytes in steps of 1,024: `0 B`, `512 B`, `1.0 KB`, `4.2 MB`; PB is the largest unit."""
    if size < 1024:
        return f"{size} B"
    amount = size / 1024
    for unit in _UNITS_OF_SIZE:
        if round(amount, 1) < 1024:
            return f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} PB"
