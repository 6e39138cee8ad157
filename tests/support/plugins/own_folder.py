"""A plugin of pytest: each run has its temporary files in a folder of its own.

pytest closes the folder that all runs of a user share whenever one begins, and PostgreSQL, which root runs as
another user, then cannot reach its files in the run beside it. What runs that failed have left is several
gigabytes each, so only the newest of them stay.
"""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import IO

import pytest

_VARIABLE = "PYTEST_DEBUG_TEMPROOT"
_PREFIX = "tests-"
# The run holds a lock on it for as long as it lives, however it ends.
_RUNNING = ".running"
_KEPT = 3


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    if is_worker or config.getoption("basetemp"):
        return
    # A run that a test starts has its folder in the one of that test's run.
    around = os.environ.get(_VARIABLE)
    if around is None:
        remove_all_but_the_newest(Path(gettempdir()))
    folder = Path(mkdtemp(prefix=_PREFIX, dir=around))
    folder.chmod(0o755)
    os.environ[_VARIABLE] = str(folder)
    config.pluginmanager.register(_Cleaning(folder, around))


def remove_all_but_the_newest(parent: Path) -> None:
    """Remove what ended runs of this user have left in the parent folder, but for the last few."""
    ended = []
    for marked in parent.glob(f"{_PREFIX}*/{_RUNNING}"):
        with suppress(OSError), marked.open("r+") as file:
            flock(file, LOCK_EX | LOCK_NB)
            ended.append(marked)
    ended.sort(key=lambda marked: marked.stat().st_mtime_ns, reverse=True)
    for marked in ended[_KEPT:]:
        _remove(marked.parent)


class _Cleaning:
    """Removes the folder after a run that passed."""

    def __init__(self, folder: Path, around: str | None) -> None:
        self._folder = folder
        self._running = _locked(folder)
        self._around = around
        self._has_passed = False

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._has_passed = exitstatus == 0

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        del os.environ[_VARIABLE]
        if self._around is not None:
            os.environ[_VARIABLE] = self._around
        if self._has_passed:
            _remove(self._folder)


def _remove(folder: Path) -> None:
    """Remove the folder, by several threads: a whole run leaves 100,000 files, most of them of databases."""
    with ThreadPoolExecutor() as threads:
        for parent, _, names in os.walk(folder):
            threads.submit(_unlink, Path(parent), names)
    shutil.rmtree(folder, ignore_errors=True)


def _unlink(parent: Path, names: list[str]) -> None:
    for name in names:
        with suppress(OSError):
            (parent / name).unlink()


def _locked(folder: Path) -> IO[str]:
    running = (folder / _RUNNING).open("x")
    flock(running, LOCK_EX)
    return running
