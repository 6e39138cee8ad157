"""How numbers differ from those of the compared range."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway.web.charts.numbers import Measure, change, write_percentage
from gateway.web.dashboard.metrics.layout import BURDENS

LARGEST_CHANGE = 10
_LEVEL = 0.0005


@dataclass(frozen=True)
class Change:
    """`12.5%`; `direction` is `up`, `down` or `level`, and `mood` is whether that is good."""

    text: str
    direction: str
    mood: str
    before: str


def change_of(slug: str, measure: Measure, now: float, before: float, *, may_judge: bool) -> Change:
    """How a total differs from the one before; without `may_judge`, the mood is neutral."""
    fraction = change(now, before)
    if fraction is None:
        text = "new" if now else write_percentage(0, 0)
        return Change(text, "level", "neutral", measure.full(before))
    direction = "level" if abs(fraction) < _LEVEL else "up" if fraction > 0 else "down"
    is_good = (direction == "up") is not (slug in BURDENS)
    mood = "good" if is_good else "bad"
    if direction == "level" or not may_judge:
        mood = "neutral"
    return Change(_size(fraction), direction, mood, measure.full(before))


def changes(values: Sequence[float], before: Sequence[float]) -> Iterator[str]:
    """For each value that has one before it, like `+12.5%`; empty where that was nothing."""
    for value, other in zip(values, before, strict=False):
        fraction = change(value, other)
        if fraction is None:
            yield ""
        else:
            sign = "" if abs(fraction) < _LEVEL else "+" if fraction > 0 else "\N{MINUS SIGN}"
            yield f"{sign}{_size(fraction)}"


def _size(fraction: float) -> str:
    if abs(fraction) > LARGEST_CHANGE:
        return f"over {write_percentage(100 * LARGEST_CHANGE, 0)}"
    return write_percentage(100 * abs(fraction))
