"""Tables in Markdown, and the targets that figures must meet."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

END = "<!-- end -->"


@dataclass(frozen=True)
class Check:
    """A ratio, time or rate, once or several times, and the bounds that every figure must meet."""

    what: str
    where: str
    figures: Sequence[float]
    most: float | None = None
    least: float | None = None

    @property
    def figure(self) -> str:
        return number(self.figures[0])

    @property
    def cells(self) -> list[str]:
        """Of a table: the figure, the target and the verdict."""
        return [self.figure, self.bound, self.verdict]

    @property
    def is_met(self) -> bool:
        above = self.least is None or min(self.figures) >= self.least
        return above and (self.most is None or max(self.figures) <= self.most)

    @property
    def bound(self) -> str:
        least = [] if self.least is None else [f"at least {number(self.least)}"]
        most = [] if self.most is None else [f"at most {number(self.most)}"]
        return ", ".join(least + most)

    @property
    def verdict(self) -> str:
        return "" if not self.bound else "ok" if self.is_met else "MISSED"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float) -> str:
    """Three digits or, from 100 on, whole numbers."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def renewed(page: str, start: str, text: str) -> str:
    """The page with `text` between the comment `start` and the next comment `end`."""
    before, _, rest = page.partition(start)
    if not rest:
        raise ValueError(f"The page has no {start}.")
    return f"{before}{start}\n\n{text}\n\n{END}{rest.partition(END)[2]}"


def renew(page: Path, start: str, text: str) -> None:
    page.write_text(renewed(page.read_text("utf-8"), start, text), "utf-8")
