"""Charts as SVG: a line with its area, or bars; the compared series is dashed.

Widths are in per cent and heights in pixels, so that a chart fills its place at any width and its texts keep
their size. Colours are classes, because pages follow light and dark.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup, escape

from gateway.web.charts.numbers import Measure
from gateway.web.charts.scale import Scale, make_scale

TOP, BELOW = 10.0, 24.0
# The width of the stretched part, in units of its own.
WIDTH = 1000.0
MOST_BARS = 62
_BAR, _THIN_BAR = 0.68, 0.9
_LABELS = 6
_LAST_LABEL = 94


@dataclass(frozen=True)
class Series:
    """What a chart shows. `compared` is the same over another range, and may have fewer or more periods."""

    slug: str
    title: str
    description: str
    measure: Measure
    values: Sequence[float]
    labels: Sequence[str]
    are_complete: Sequence[bool]
    compared: Sequence[float] | None = None
    as_bars: bool = False


def draw(series: Series, height: float) -> Markup:
    """The chart, `height` pixels high, with a title and a description for screen readers."""
    divisor = series.measure.divisor
    values = [value / divisor for value in series.values]
    count = len(values)
    compared = None if series.compared is None else [value / divisor for value in series.compared[:count]]
    scale = make_scale(
        [*values, *(compared or ())],
        steps=4 if height > 150 else 3,
        whole=series.measure.is_whole,
        top=TOP,
        height=height - TOP - BELOW,
    )
    name = series.slug
    parts = [
        f'<svg class="drawing" width="100%" height="{height:g}" role="img" '
        f'aria-labelledby="title-{name} about-{name}" data-places="{_places(values, scale)}">'
        f'<title id="title-{name}">{escape(series.title)}</title>'
        f'<desc id="about-{name}">{escape(series.description)}</desc>',
        *_grid(series.measure, scale),
        *_dates(series.labels, height),
    ]
    if count:
        is_barred = series.as_bars and count <= MOST_BARS
        main = (_bars if is_barred else _area)(values, series.are_complete, scale)
        # Before a line, and in front of bars with a halo that separates it from their colour.
        kinds = ("halo", "compared") if is_barred else ("compared",)
        other = [_line(compared, count, scale, kind) for kind in kinds] if compared else []
        drawn = [_stretched(height, "".join(other))] if other else []
        parts += [*main, *drawn] if is_barred else [*drawn, *main]
    parts.append("</svg>")
    return Markup("".join(parts))  # noqa: S704 - numbers, and texts escaped above


def _places(values: Sequence[float], scale: Scale) -> str:
    return " ".join([f"{y:.0f}" for y in scale.places(values)])


def _grid(measure: Measure, scale: Scale) -> list[str]:
    lines = []
    for tick in scale.ticks:
        y = scale.place(tick)
        kind = "zero" if tick == 0 else "grid"
        lines.append(f'<line class="{kind}" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(
            f'<text class="tick" x="-8" y="{y + 4:.1f}" text-anchor="end">{measure.short(tick)}</text>'
        )
    return lines


def _dates(labels: Sequence[str], height: float) -> list[str]:
    """Every nth label below the middle of its period; each second of them only where there is room.

    None is so near to the end that it would leave the card.
    """
    count = len(labels)
    step = max(1, -(-count // _LABELS))
    texts = []
    for order, index in enumerate(range(0, count, step)):
        place = _place(index, count) / WIDTH * 100
        if place > _LAST_LABEL:
            break
        extra = " extra" if order % 2 else ""
        texts.append(
            f'<text class="tick{extra}" x="{place:.2f}%" y="{height - 6:g}" text-anchor="middle">'
            f"{escape(labels[index])}</text>"
        )
    return texts


def _bars(values: Sequence[float], are_complete: Sequence[bool], scale: Scale) -> list[str]:
    count, zero = len(values), scale.place(0)
    share = _THIN_BAR if count > MOST_BARS // 2 else _BAR
    band = 100 / count
    bars = []
    for index, (value, is_complete) in enumerate(zip(values, are_complete, strict=True)):
        if not value:
            continue
        y = scale.place(value)
        kind = "bar" if is_complete else "bar unfinished"
        x, width = band * (index + (1 - share) / 2), band * share
        top, high = min(y, zero), max(1.0, abs(zero - y))
        bars.append(
            f'<rect class="{kind}" x="{x:.2f}%" y="{top:.1f}" width="{width:.2f}%" height="{high:.1f}"/>'
        )
    return bars


def _area(values: Sequence[float], are_complete: Sequence[bool], scale: Scale) -> list[str]:
    """The line over its area; it is dotted up to a ring in the period that is not over, and ends there."""
    count, zero = len(values), scale.place(0)
    over = sum(are_complete)
    values = values[: over + 1]
    height = scale.top + scale.height + BELOW
    ground = f"{_place(len(values) - 1, count):.1f},{zero:.1f} {_place(0, count):.1f},{zero:.1f}"
    area = f'<polygon class="area" points="{_points(values, count, scale)} {ground}"/>'
    inner = [area, _line(values[:over], count, scale, "line")]
    if over < count:
        first = max(0, over - 1)
        inner.append(_line(values[first:], count, scale, "line unfinished", first))
    parts = [_stretched(height, "".join(inner))]
    if over < count or count == 1:
        parts.append(_ring(len(values) - 1, count, values[-1], scale, is_over=over == count))
    return parts


def _ring(index: int, count: int, value: float, scale: Scale, *, is_over: bool) -> str:
    kind = "point" if is_over else "point unfinished"
    x = _place(index, count) / WIDTH * 100
    return f'<circle class="{kind}" cx="{x:.2f}%" cy="{scale.place(value):.1f}" r="4"/>'


def _line(values: Sequence[float], count: int, scale: Scale, kind: str, first: int = 0) -> str:
    return f'<polyline class="{kind}" points="{_points(values, count, scale, first)}"/>'


def _points(values: Sequence[float], count: int, scale: Scale, first: int = 0) -> str:
    across = _across(count)[first : first + len(values)]
    return " ".join([f"{x}{y:.1f}" for x, y in zip(across, scale.places(values), strict=True)])


@lru_cache(maxsize=64)
def _across(count: int) -> tuple[str, ...]:
    """The beginning of each point: the middle of its period, and a comma."""
    return tuple(f"{_place(index, count):.1f}," for index in range(count))


def _place(index: int, count: int) -> float:
    """The middle of a period's band."""
    return WIDTH * (index + 0.5) / count


def _stretched(height: float, inner: str) -> str:
    return (
        f'<svg x="0" y="0" width="100%" height="{height:g}" viewBox="0 0 {WIDTH:g} {height:g}" '
        f'preserveAspectRatio="none" aria-hidden="true">{inner}</svg>'
    )
