"""A plugin of pytest: a test fails that leaves the process other than it found it.

The tests after it would pass or fail by the order that is drawn.
"""

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    item.stash[_FOUND] = _state()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[Any]:
    result = yield
    changed = [name for name, value in _state().items() if value != item.stash[_FOUND][name]]
    assert not changed, f"This test has left changed: {', '.join(changed)}."
    return result


_FOUND = pytest.StashKey[dict[str, Any]]()


def _state() -> dict[str, Any]:
    """What tests share without a fixture, by a name for each."""
    environment = dict(os.environ)
    environment.pop("PYTEST_CURRENT_TEST", None)
    loggers = logging.root.manager.loggerDict.items()
    disabled = {name for name, logger in loggers if getattr(logger, "disabled", False)}
    return {
        "the environment": environment,
        "the working directory": Path.cwd(),
        "sys.path": list(sys.path),
        "the level of logs": logging.root.level,
        # Once a process has set up its own log, it has no other access log.
        "disabled loggers": disabled - {"uvicorn.access"},
        # As that of `capfd` is once its test has ended.
        "a closed stream of logs": any(
            getattr(getattr(handler, "stream", None), "closed", False) for handler in logging.root.handlers
        ),
    }
