"""Values of metrics as people read them: in full beside a chart, short at its axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from babel.numbers import get_currency_symbol

from schema.values.prose import LOCALE
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
            symbol, places = _symbol(self.currency), self.currency.exponent
            written = [f"{symbol}{abs(value) / divisor:,.{places}f}" for value in values]
            return [_signed(text, value) for text, value in zip(written, values, strict=True)]
        if self.unit is Unit.BYTES:
            return [_sized(value) for value in values]
        if self.is_percentage:
            return [f"{value / divisor:,.1f}%" for value in values]
        places = 0 if self.unit is Unit.COUNT else 2
        return [f"{value:,.{places}f}" for value in values]

    def short(self, number: float) -> str:
        """The number of a tick, divided already: `$1.2K`, `50%` or `2 MB`."""
        if self.unit is Unit.BYTES:
            return _sized(number)
        if self.is_percentage:
            return f"{number:g}%"
        text = _shortened(abs(number))
        return _signed(f"{_symbol(self.currency)}{text}" if self.unit is Unit.MONEY else text, number)


def change(now: float, before: float) -> float | None:
    """The change as a fraction of what was before; None where that was nothing."""
    return None if not before else (now - before) / abs(before)


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
            return f"{number / size:.3g} {name}"
    return f"{number:.0f} B"


@lru_cache
def _symbol(currency: Currency) -> str:
    symbol = str(get_currency_symbol(currency.value.upper(), LOCALE))
    return f"{symbol}\N{NO-BREAK SPACE}" if symbol[-1].isalpha() else symbol
