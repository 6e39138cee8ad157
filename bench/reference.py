"""How much slower this machine is than the one for which targets in time were set.

`python -m bench.reference` prints the processor time of a fixed piece of work in this process, in seconds.
A process keeps its luck with memory and hash seeds, so a factor takes the median of several.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import median
from time import process_time

from bench.kit.report import Check, number

# Seconds of the fixed piece of work there: by the floor's times for servers, and by the start of a command,
# which makes few system calls. docs/decisions/operation.md derives both.
SERVERS, COMMANDS = 0.038, 0.059
MOST_FACTOR = 3.5
ROWS, REPETITIONS = 300, 40


@dataclass(frozen=True)
class Pace:
    """The machine's factor: how many times as long as on the reference machine work takes here."""

    factor: float

    @classmethod
    def of(cls, seconds: Sequence[float], reference: float) -> "Pace":
        """From what the fixed piece of work took in several processes, and takes on the reference machine."""
        return cls(median(seconds) / reference)

    @property
    def is_judged(self) -> bool:
        return self.factor <= MOST_FACTOR

    def check(self, what: str, where: str, figure: float, stated: float | None) -> Check:
        """At most the stated figure times the factor. A faster machine does not make a target stricter."""
        most = None if stated is None or not self.is_judged else stated * max(1.0, self.factor)
        return Check(what, where, [figure], most=most)

    def targets(self, check: Check, stated: float | None, unit: str = "") -> list[str]:
        """Three cells of a table: the stated target, the target here and the verdict."""
        if stated is None:
            return ["", "", ""]
        here = f"{check.bound}{unit}" if check.bound else "not judged"
        return [f"at most {number(stated)}{unit}", here, check.verdict]

    def __str__(self) -> str:
        times = f"{self.factor:.2f} times as long here as on the reference machine"
        compared = f"A fixed piece of work takes {times}"
        if not self.is_judged:
            return f"{compared}, more than {MOST_FACTOR}: targets in time cannot be judged."
        if self.factor < 1:
            return f"{compared}: targets in time stay as stated."
        return f"{compared}: targets in time are multiplied by that."


def work_seconds() -> float:
    """Processor time of the fixed piece of work in a new process."""
    ended = subprocess.run([sys.executable, "-m", "bench.reference"], capture_output=True, check=True)
    return float(ended.stdout)


def work() -> None:
    """Make, write, read and sort objects, as servers do all day."""
    rows = [
        {
            "id": f"{place:032x}",
            "name": f"Tide table {place}",
            "metadata": {"edition": place, "is_new": place % 2 == 0},
            "prices": [{"amount": place * 100, "currency": "usd", "maximum": None}],
        }
        for place in range(ROWS)
    ]
    text = json.dumps(rows)
    by_hash = {sha256(row["id"].encode()).hexdigest(): row for row in json.loads(text)}
    ordered = sorted(by_hash.items(), key=lambda item: (item[1]["metadata"]["is_new"], item[0]))
    assert len(",".join(hash for hash, _ in ordered)) == 65 * ROWS - 1


def main() -> None:
    work()
    before = process_time()
    for _ in range(REPETITIONS):
        work()
    print(process_time() - before)


if __name__ == "__main__":
    main()
