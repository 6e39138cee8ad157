"""A chart of processor times as SVG: each request has a bar for each server, and each bar has two parts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, LABELS, NUMBERS = 760, 250, 110
BAR, GAP, TOP = 12, 14, 34
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.floor .server { fill: #8c959f } .floor .database { fill: #d0d7de }
.tuned .server { fill: #57845f } .tuned .database { fill: #b4d3ba }
.ours .server { fill: #0969da } .ours .database { fill: #80ccff }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .floor .database { fill: #484f58 } }
"""


@dataclass(frozen=True)
class Bar:
    """Microseconds of processor time; `kind` is `floor`, `tuned` or `ours`."""

    kind: str
    server: float
    database: float


def chart(title: str, rows: Sequence[tuple[str, Sequence[Bar]]]) -> str:
    """One group of bars for each named row; all bars have one scale."""
    height = TOP + sum(len(bars) * BAR + GAP for _, bars in rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<text x="0" y="14">{escape(title)}</text>',
        *_groups(rows),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _groups(rows: Sequence[tuple[str, Sequence[Bar]]]) -> Iterator[str]:
    longest = max(bar.server + bar.database for _, bars in rows for bar in bars)
    scale = (WIDTH - LABELS - NUMBERS) / longest
    y = TOP
    for name, bars in rows:
        middle = y + len(bars) * BAR / 2 + 4
        yield f'<text x="{LABELS - 10}" y="{middle:.0f}" text-anchor="end">{escape(name)}</text>'
        for bar in bars:
            yield from _bar(bar, y, scale)
            y += BAR
        y += GAP


def _bar(bar: Bar, y: int, scale: float) -> Iterator[str]:
    server, database = bar.server * scale, bar.database * scale
    height = BAR - 1
    yield f'<g class="{bar.kind}">'
    for part, x, width in (("server", LABELS, server), ("database", LABELS + server, database)):
        yield f'<rect class="{part}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}"/>'
    text = f"{bar.server:,.0f} + {bar.database:,.0f}"
    yield f'<text x="{LABELS + server + database + 6:.1f}" y="{y + height - 1}">{text}</text></g>'
