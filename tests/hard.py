"""`python -m tests.hard [tests]`: beside four busy loops, at midnight, at summer time, and on 29 February.

One way alone: `WAY=busy`, `WAY=midnight`, `WAY=summer` or `WAY=leap-day`.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.plugins.other_clock import FILE, LIBRARY, VARIABLE, write_clock

SOURCE = Path(__file__).parent / "support" / "plugins" / "other_clock.c"
BUSY_LOOPS = 4
MOMENTS = {
    "midnight": ("23:59:55", {}),
    "summer": ("2027-03-28T01:59:55+01:00", {"TZ": "Europe/Berlin"}),
    "leap-day": ("2028-02-29T00:00:05+00:00", {}),
}


def main() -> int:
    ways = [os.environ["WAY"]] if os.environ.get("WAY") else ["busy", *MOMENTS]
    results = {way: _run(way, sys.argv[1:]) for way in ways}
    for way, result in results.items():
        sys.stdout.write(f"{way}: {'passed' if result == 0 else 'FAILED'}\n")
    return max(results.values())


def _run(way: str, arguments: list[str]) -> int:
    """The exit code of pytest."""
    sys.stdout.write(f"\n{way}\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "pytest", *arguments]
    with ExitStack() as stack:
        if way == "busy":
            stack.enter_context(_busy_loops())
            # The share of the processors that is left is small: only what hangs is given up.
            return subprocess.run(
                ["nice", *command], env=os.environ | {"PATIENCE": "1500"}, check=False
            ).returncode
        return subprocess.run(
            command, env=os.environ | stack.enter_context(_clock(way)), check=False
        ).returncode


@contextmanager
def _busy_loops() -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_LOOPS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextmanager
def _clock(way: str) -> Iterator[Mapping[str, str]]:
    """The variables with which processes are at another moment from their start."""
    begins, variables = MOMENTS[way]
    with TemporaryDirectory(prefix="clock-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL runs as another user.
        library, file = folder / "other_clock.so", folder / "ahead"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
        now = datetime.now(UTC)
        moment = datetime.fromisoformat(begins) if "T" in begins else now
        write_clock(file, round((moment - now).total_seconds()), int(now.timestamp()))
        yield {**variables, VARIABLE: begins, FILE: str(file), LIBRARY: str(library)}


if __name__ == "__main__":
    sys.exit(main())
