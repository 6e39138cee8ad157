"""A plugin of pytest: each test has a time-out, and a wide fixture does not use up that of the first test.

pytest-timeout would measure the whole of a test, with what pytest does between its parts, where an
interruption ends the whole run: set-up, function and end have a limit each here (`timeout_func_only`).
Hypothesis has limits of its own, 200 ms for an example and one for drawing it: a busy machine breaks them.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings
from pytest_timeout import _get_item_settings

from tests.support.measures.patience import PATIENCE_SECONDS, SECONDS_OF_A_TEST, SECONDS_OF_A_WIDE_FIXTURE

_LIMIT = pytest.StashKey[float | None]()
settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")

_WIDE_SCOPES = {"session", "package", "module"}


@pytest.fixture(scope="session", autouse=True)
def clients_wait_for_answers() -> Iterator[None]:
    """By default clients over real sockets give up after five seconds, which a busy machine may take."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "read", "write", "pool"):
            patch.setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, name, PATIENCE_SECONDS)
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each test the usual time-out, unless it, its module or the command line names one."""
    for item in items:
        if config.getoption("timeout") is None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SECONDS_OF_A_TEST))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    item.stash[_LIMIT] = None
    with _limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with _limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """The last test that uses a wide fixture ends it, too."""
    with _limited(item, SECONDS_OF_A_WIDE_FIXTURE):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Iterator[Any]:
    """Measure the set-up of a wide fixture by a limit of its own; the test then has its whole time."""
    if fixturedef.scope not in _WIDE_SCOPES:
        return (yield)
    with _limited(request._pyfuncitem, SECONDS_OF_A_WIDE_FIXTURE):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[Any]:
    """A test that is interrupted leaves its coroutine on the loop of the session: end it before the next."""
    runner = pyfuncitem.funcargs.get("_session_scoped_runner")
    if not isinstance(runner, asyncio.Runner):
        return (yield)
    loop = runner.get_loop()
    before = asyncio.all_tasks(loop)
    try:
        return (yield)
    except pytest.fail.Exception as failure:
        if "from pytest-timeout" in str(failure):
            _end(loop, asyncio.all_tasks(loop) - before)
        raise


def _end(loop: asyncio.AbstractEventLoop, tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=10))


@contextmanager
def _limited(item: pytest.Item, seconds: float = 0) -> Iterator[None]:
    """Interrupt the block after `seconds` or what the mark of the test says, whichever is longer.

    A block around this one then counts anew.
    """
    around = item.stash.get(_LIMIT, None)
    _set_limit(item, max(seconds, around or 0))
    try:
        yield
    finally:
        _set_limit(item, around)


def _set_limit(item: pytest.Item, seconds: float | None) -> None:
    item.stash[_LIMIT] = seconds
    item.ihook.pytest_timeout_cancel_timer(item=item)
    settings = _get_item_settings(item)
    if seconds is not None and settings.timeout > 0:
        longer = settings._replace(timeout=max(seconds, settings.timeout))
        item.ihook.pytest_timeout_set_timer(item=item, settings=longer)
