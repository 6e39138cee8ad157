"""What came of a fault, and the table of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

HEADER = (
    "fault",
    "database",
    "requests",
    "tried",
    "acknowledged",
    "lost",
    "duplicated",
    "differ",
    "500",
    "503",
    "no answer",
    "longest, s",
    "recovered, s",
    "",
)
# The gateway waits 30 seconds for a connection before it answers with 503.
LONGEST_WAIT = 40


@dataclass
class Outcome:
    """`tried` and `acknowledged` are writes, of which a batch of five events counts five.

    `differences` are cells and totals that are not what the rows add up to; `unexpected` are answers with a
    status from 500 on other than 503. `longest` is the longest wait for one answer and `seconds` the time to
    recover.
    """

    fault: str
    database: str
    requests: int = 0
    tried: int = 0
    acknowledged: int = 0
    lost: int = 0
    duplicated: int = 0
    differences: int = 0
    unexpected: int = 0
    unavailable: int = 0
    unanswered: int = 0
    hints_missing: int = 0
    longest: float = 0.0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    not_run: str | None = None
    note: str = ""

    def faults(self) -> list[str]:
        """What breaks the gateway's promises, in words; empty if nothing does."""
        counts = {
            "acknowledged writes are lost": self.lost,
            "writes are stored more than once": self.duplicated,
            "cells or totals differ": self.differences,
            "answers with 500": self.unexpected,
            "answers with 503 have no Retry-After": self.hints_missing,
        }
        wrong = [f"{many} {what}" for what, many in counts.items() if many]
        return wrong + self.problems

    def hangs(self) -> list[str]:
        """A request that waited for too long; only of meaning on a machine that has nothing else to do."""
        if self.longest <= LONGEST_WAIT:
            return []
        return [f"a request waited for {self.longest:.0f} seconds"]

    def row(self) -> list[str]:
        if self.not_run is not None:
            return [self.fault, self.database, *[""] * (len(HEADER) - 3), f"NOT RUN: {self.not_run}"]
        counts = (
            self.requests,
            self.tried,
            self.acknowledged,
            self.lost,
            self.duplicated,
            self.differences,
            self.unexpected,
            self.unavailable,
            self.unanswered,
        )
        verdict = "; ".join(self.faults() + self.hangs()) or "ok"
        if self.note:
            verdict += f" ({self.note})"
        times = [f"{self.longest:.1f}", f"{self.seconds:.1f}"]
        return [self.fault, self.database, *(f"{each:,}" for each in counts), *times, verdict]


def written(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"
