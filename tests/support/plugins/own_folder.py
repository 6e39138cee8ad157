"""A plugin of pytest: each run has its temporary files in a folder of its own.

pytest closes the folder that all runs of a user share whenever one begins, and PostgreSQL, which root runs as
another user, then cannot reach its files in the run beside it.
"""

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp

import pytest

_VARIABLE = "PYTEST_DEBUG_TEMPROOT"


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    if is_worker or config.getoption("basetemp"):
        return
    # A run that a test starts has its folder in the one of that test's run.
    around = os.environ.get(_VARIABLE)
    folder = Path(mkdtemp(prefix="tests-", dir=around))
    folder.chmod(0o755)
    os.environ[_VARIABLE] = str(folder)
    config.pluginmanager.register(_Cleaning(folder, around))


class _Cleaning:
    """Removes the folder after a run that passed."""

    def __init__(self, folder: Path, around: str | None) -> None:
        self._folder = folder
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
            shutil.rmtree(self._folder, ignore_errors=True)
