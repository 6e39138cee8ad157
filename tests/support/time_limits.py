"""A plugin of pytest: each test has a time-out, and a wide fixture does not use up that of the first test."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.patience import PATIENCE_SECONDS, SECONDS_OF_A_TEST, SECONDS_OF_A_WIDE_FIXTURE

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
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Iterator[Any]:
    """Measure the set-up of a wide fixture by a limit of its own; the test then has its whole time."""
    item = request._pyfuncitem
    if fixturedef.scope not in _WIDE_SCOPES:
        return (yield)
    _set_limit(item, SECONDS_OF_A_WIDE_FIXTURE)
    try:
        return (yield)
    finally:
        _set_limit(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """The last test that uses a wide fixture ends it, too."""
    _set_limit(item, SECONDS_OF_A_WIDE_FIXTURE)
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


def _set_limit(item: pytest.Item, seconds: float | None = None) -> None:
    """Begin to count anew, up to `seconds` or what the mark of the test says."""
    from pytest_timeout import _get_item_settings  # noqa: PLC0415

    settings = _get_item_settings(item)
    limit = settings.timeout if seconds is None else max(seconds, settings.timeout)
    if settings.timeout > 0:
        item.ihook.pytest_timeout_cancel_timer(item=item)
        item.ihook.pytest_timeout_set_timer(item=item, settings=settings._replace(timeout=limit))
