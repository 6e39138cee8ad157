"""Runs the command `duograph` and notes, each millisecond of its processor time, what it is doing.

`python -m bench.sampling serve` writes the samples to the file that `SAMPLES` names, as JSON: how often each
part of the code was the innermost. A system call counts for the code that makes it.
"""

import json
import os
import signal
import site
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

from gateway.cli.main import main as run

INTERVAL_SECONDS = 0.001
_ROOT = str(Path(__file__).parent.parent)
_PACKAGES = tuple(site.getsitepackages())

samples: Counter[str] = Counter()


def part_of(frame: FrameType | None) -> str:
    """Our package and subpackage, a library's name, or Python's own."""
    if frame is None:
        return "the event loop"
    path = frame.f_code.co_filename
    for packages in _PACKAGES:
        if path.startswith(packages):
            return path.removeprefix(packages).strip("/").split("/")[0].removesuffix(".py")
    if path.startswith(_ROOT):
        return "/".join(Path(path).relative_to(_ROOT).parts[:2]).removesuffix(".py")
    return "Python's own library"


def note(_signal: int, frame: FrameType | None) -> None:
    samples[part_of(frame)] += 1


def start_over(_signal: int, _frame: FrameType | None) -> None:
    """Forget the start: it is not what the server does all day."""
    samples.clear()


def main() -> None:
    signal.signal(signal.SIGPROF, note)
    signal.signal(signal.SIGUSR1, start_over)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL_SECONDS, INTERVAL_SECONDS)
    try:
        run()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        Path(os.environ["SAMPLES"]).write_text(json.dumps(samples))


if __name__ == "__main__":
    sys.argv[0] = "duograph"
    main()
