"""Pictures of the sea for the demo's shares: `tides.svg` in other colours, with the sun at another place."""

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "pictures"
# The colours of the sky, the sun and the sea in `tides.svg`, and the place of its sun.
DAY = ("#bfe3f2", "#fdf3dc", "#ffd27f", "#8ecae6", "#4ea8c9", "#23849f", "#146178", "#0b3f52")
SUN = 'cx="610" cy="130" r="54"'


class Scene(NamedTuple):
    """Colours as in `DAY`; `sun` is where it is and how large."""

    colours: tuple[str, ...]
    sun: tuple[int, int, int] = (610, 130, 54)


def _colours(text: str) -> tuple[str, ...]:
    return tuple(text.split())


DUSK = Scene(("#3d2c5e", "#f2a07b", "#ffe3b0", "#b56b8f", "#8d5a8c", "#64497d", "#45366a", "#271f47"))
NIGHT = Scene(("#0a1128", "#2a3d66", "#eef2f7", "#34568b", "#27457a", "#1d3766", "#142950", "#0a1835"))
# The picture of each share that has no picture of its own.
SCENES = {
    "Dunes at dawn": Scene(
        ("#f9d5bb", "#fff4e6", "#f7a072", "#eddcc1", "#e0c79d", "#cbab7b", "#a98757", "#7c6040"),
        (180, 200, 62),
    ),
    "Storm at Whitby": Scene(
        ("#3b4252", "#7b8794", "#9aa5b1", "#616e7c", "#52606d", "#3e4c59", "#323f4b", "#1f2933"),
        (660, 90, 30),
    ),
    "Harbour in the rain": Scene(
        ("#8fa3ad", "#d4dde1", "#e8eef0", "#a3b8c2", "#7d98a5", "#5c7a89", "#42606f", "#2b4352"),
        (400, 110, 36),
    ),
    "First snow on the beach": Scene(
        ("#dbe9f4", "#ffffff", "#fff1c9", "#eef5fa", "#d8e6f0", "#bcd2e2", "#96b3c9", "#6b8ba4"),
        (250, 150, 44),
    ),
    "Moonlit bay": Scene(NIGHT.colours, (200, 100, 40)),
    "Evening ferry": Scene(DUSK.colours, (420, 215, 76)),
    "Salt marsh": Scene(
        ("#e6f0d5", "#fbf9e8", "#f6d365", "#c7d9a1", "#a3bf78", "#7c9f58", "#577c40", "#37552c"),
        (520, 120, 46),
    ),
    "Northern lights": Scene(
        ("#04121f", "#0f4c4a", "#9ff5d6", "#146b62", "#11564f", "#0d423f", "#0a302f", "#051c1d"),
        (330, 90, 24),
    ),
    "Winter almanac": Scene(
        ("#b8c6db", "#f5f7fa", "#fceabb", "#d5dee9", "#b7c5d6", "#92a6bd", "#6c839d", "#48607b"),
        (600, 120, 50),
    ),
}


def drawn(scene: Scene) -> bytes:
    """The picture as SVG."""
    picture = (FOLDER / "tides.svg").read_text()
    for colour, other in zip(DAY, scene.colours, strict=True):
        picture = picture.replace(colour, other)
    x, y, radius = scene.sun
    return picture.replace(SUN, f'cx="{x}" cy="{y}" r="{radius}"').encode()
