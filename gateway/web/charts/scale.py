"""The scale of an axis: round ticks that enclose the values, and where a value stands between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """From `lowest` to `highest` in pixels from the top, `height` high.

    `ticks` include both ends, or are 0 alone.
    """

    lowest: float
    highest: float
    ticks: tuple[float, ...]
    top: float
    height: float

    def place(self, value: float) -> float:
        """Its distance from the top of the picture."""
        return self.places([value])[0]

    def places(self, values: Sequence[float]) -> list[float]:
        """Many values, as `place` does one."""
        factor = self.height / (self.highest - self.lowest)
        bottom = self.top + factor * self.highest
        return [bottom - factor * value for value in values]


def make_scale(values: Sequence[float], *, steps: int, whole: bool, top: float, height: float) -> Scale:
    """A scale that includes 0, with about so many steps; `whole` has no ticks between whole numbers."""
    lowest, highest = min(values, default=0.0), max(values, default=0.0)
    lowest, highest = min(0.0, lowest), max(0.0, highest)
    if lowest == highest:
        # There is nothing to read but 0.
        return Scale(0.0, 1.0, (0.0,), top, height)
    step = _round_step((highest - lowest) / steps)
    if whole:
        step = max(1.0, ceil(step))
    first, last = floor(lowest / step), ceil(highest / step)
    ticks = tuple(round(index * step, 10) for index in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks, top, height)


def _round_step(rough: float) -> float:
    size = 10.0 ** floor(log10(rough))
    return next(step * size for step in _STEPS if step * size >= rough * 0.999)
