"""A plugin of pytest: each worker writes which branches it has covered before it says that it is done.

pytest-xdist kills a worker that then takes more than ten seconds to end, with what it had not written.
"""

import sys

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    coverage = sys.modules.get("coverage")
    if coverage is None or not hasattr(session.config, "workerinput"):
        return
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.save()
