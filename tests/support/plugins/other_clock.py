"""A plugin of pytest for `make test-hard`: the tests run at another moment than that of the machine.

`other_clock.c` is loaded into every process and reads from a file how far its calendar is ahead. Each process
that runs tests has a file of its own, so that its servers and browsers agree with it.
"""

import ctypes
import os
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

# "2028-02-29T00:00:05+00:00" is the moment at which the first test begins; "23:59:55" is that of each module,
# in UTC and on the next day of the process's calendar.
VARIABLE = "TESTS_BEGIN_AT"
FILE = "OTHER_CLOCK"
LIBRARY = "LD_PRELOAD"
_SHAPE = struct.Struct("<qq")


def pytest_configure(config: pytest.Config) -> None:
    if begins := os.environ.get(VARIABLE):
        config.pluginmanager.register(_Setting(begins))


def write_clock(file: Path, ahead: int, began: int) -> None:
    """In place, as processes have mapped the file; `began` is the machine's moment at which the run did."""
    with file.open("r+b" if file.exists() else "wb") as written:
        written.write(_SHAPE.pack(ahead, began))


class _Setting:
    """Sets the clock of this process before a test."""

    def __init__(self, begins: str) -> None:
        self._begins = begins
        self._module = ""
        kept = Path(os.environ[FILE]).read_bytes()
        self._ahead, self._began = map(int, _SHAPE.unpack(kept))
        folder = Path(mkdtemp(prefix="clock-"))
        folder.chmod(0o755)  # PostgreSQL runs as another user.
        self._file = folder / "ahead"
        self._file.write_bytes(kept)
        os.environ[FILE] = str(self._file)
        ctypes.CDLL(os.environ[LIBRARY]).other_clock_use(str(self._file).encode())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        module = item.nodeid.partition("::")[0]
        if (moment := self._moment_for(module)) is not None:
            self._ahead += round((moment - datetime.now(UTC)).total_seconds())
            write_clock(self._file, self._ahead, self._began)
        self._module = module
        return (yield)

    def _moment_for(self, module: str) -> datetime | None:
        if "T" in self._begins:
            return None if self._module else datetime.fromisoformat(self._begins)
        if module == self._module:
            return None
        hour, minute, second = map(int, self._begins.split(":"))
        now = datetime.now(UTC)
        today = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
        return today if today > now else today + timedelta(days=1)
