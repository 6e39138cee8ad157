"""The command `duograph` with a clock that is moved by as many seconds as a file says.

`python -P shifted.py FILE ARGUMENTS...`
"""

import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

from storage import clock


def main() -> None:
    file = Path(sys.argv.pop(1))
    real_now, real_time = clock.now, time.time

    def offset() -> float:
        # The file is empty for a moment while it is written.
        return float(file.read_text() or 0)

    def shifted_now() -> datetime:
        return real_now() + timedelta(seconds=offset())

    def shifted_time() -> float:
        return real_time() + offset()

    # Before the modules that import them by name are imported.
    clock.now = shifted_now
    time.time = shifted_time
    from gateway.cli.main import main as command  # noqa: PLC0415

    command()


if __name__ == "__main__":
    main()
