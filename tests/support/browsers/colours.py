"""The contrast of colours, as WCAG 2.2 measures it."""

from collections.abc import Sequence


def contrast(first: Sequence[float], second: Sequence[float]) -> float:
    """The ratio of two colours' luminances, 1 to 21; each is red, green and blue, 0 to 255."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Sequence[float]) -> float:
    channels = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
