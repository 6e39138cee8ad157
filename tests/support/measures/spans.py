"""When something happened: a span of time from one look at the clock to another, however long it took."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass
class Span:
    """`moment in span` is true from its begin to its end; `span + life` is when what was made in it ends."""

    begin: datetime = field(default_factory=lambda: datetime.now(UTC))
    end: datetime | None = None

    def __contains__(self, moment: datetime) -> bool:
        assert self.end is not None, "The span has not ended."
        return self.begin <= moment <= self.end

    def __add__(self, life: timedelta) -> "Span":
        assert self.end is not None, "The span has not ended."
        return Span(self.begin + life, self.end + life)

    @property
    def in_whole_seconds(self) -> "Span":
        """For moments of which the fraction of a second was cut off."""
        return Span(self.begin.replace(microsecond=0), self.end)


@contextmanager
def span() -> Iterator[Span]:
    """The span that the block takes."""
    measured = Span()
    yield measured
    measured.end = datetime.now(UTC)
