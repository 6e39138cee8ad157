"""Values of metrics as people read them: in full beside a chart, short at its axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from babel import Locale
from babel.numbers import get_currency_symbol

from schema.languages.speech import babel_locale
from schema.values.prose import write_number
from storage.enums import Currency
from storage.metrics.definitions import Unit

_SHORT = ((1_000_000_000_000, "T"), (1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K"))
_BYTES = ((10**15, "PB"), (10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


@dataclass(frozen=True)
class Measure:
    """The unit of a metric's values, and the currency of those that are money.

    `divisor` turns a value into the number that people read: cents into dollars, fractions into per cent.
    """

    unit: Unit
    currency: Currency
    is_percentage: bool = False

    @property
    def divisor(self) -> float:
        if self.unit is Unit.MONEY:
            return float(10**self.currency.exponent)
        return 0.01 if self.is_percentage else 1.0

    @property
    def is_whole(self) -> bool:
        """Whether a tick between two whole numbers has no meaning."""
        return self.unit in (Unit.COUNT, Unit.BYTES)

    def full(self, value: float) -> str:
        """`$1,234.50`, `1,234`, `1.50`, `62.5%` or `1.2 MB`."""
        return self.all_full([value])[0]

    def all_full(self, values: Sequence[float]) -> list[str]:
        """Many values, as `full` writes one."""
        divisor = self.divisor
        if self.unit is Unit.MONEY:
            (before, after), places = _signs(self.currency, babel_locale()), self.currency.exponent
            written = [f"{before}{write_number(abs(value) / divisor, places)}{after}" for value in values]
            return [_signed(text, value) for text, value in zip(written, values, strict=True)]
        if self.unit is Unit.BYTES:
            return [_sized(value) for value in values]
        if self.is_percentage:
            return [write_percentage(value / divisor) for value in values]
        places = 0 if self.unit is Unit.COUNT else 2
        return [write_number(value, places) for value in values]

    def short(self, number: float) -> str:
        """The number of a tick, divided already: `$1.2K`, `50%` or `2 MB`."""
        if self.unit is Unit.BYTES:
            return _sized(number)
        if self.is_percentage:
            return f"{_local(f'{number:g}')}{_percent_sign(babel_locale())}"
        text = _local(_shortened(abs(number)))
        if self.unit is Unit.MONEY:
            before, after = _signs(self.currency, babel_locale())
            text = f"{before}{text}{after}"
        return _signed(text, number)


def change(now: float, before: float) -> float | None:
    """The change as a fraction of what was before; None where that was nothing."""
    return None if not before else (now - before) / abs(before)


def write_percentage(number: float, places: int = 1) -> str:
    """Like `62.5%`."""
    return f"{write_number(number, places)}{_percent_sign(babel_locale())}"


def _signed(text: str, number: float) -> str:
    return f"\N{MINUS SIGN}{text}" if number < 0 else text


def _shortened(number: float) -> str:
    if number < 1 and round(number, 2) == number != 0:
        return f"{number:.2f}"
    for size, name in _SHORT:
        if number >= size:
            return f"{number / size:.4g}{name}"
    return f"{number:.4g}"


def _sized(number: float) -> str:
    for size, name in _BYTES:
        if abs(number) >= size:
            return f"{_local(f'{number / size:.3g}')} {name}"
    return f"{number:.0f} B"


def _local(text: str) -> str:
    """A short number with the decimal separator of the page."""
    return text.replace(".", str(babel_locale().number_symbols["latn"]["decimal"]))


@lru_cache
def _signs(currency: Currency, locale: Locale) -> tuple[str, str]:
    """What stands before an amount and behind it."""
    symbol = str(get_currency_symbol(currency.value.upper(), locale))
    pattern = locale.currency_formats["standard"]
    before, after = (part[0].replace("¤", symbol) for part in (pattern.prefix, pattern.suffix))
    return f"{before}\N{NO-BREAK SPACE}" if before[-1:].isalpha() else before, after


@lru_cache
def _percent_sign(locale: Locale) -> str:
    return str(locale.percent_formats[None].suffix[0])
