"""What tests of rate limits share: a clock that they move on, and a subject of its own for each.

And logs that a test configures.
"""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from limits.aio.storage.redis import redispy

from gateway.logs.logs import configure_logs
from gateway.rate_limits import limits, redis_windows
from gateway.rate_limits.moving_windows import MemoryWindows
from gateway.rate_limits.redis_windows import RedisWindows
from tests.support.measures.patience import PATIENCE_SECONDS
from tests.support.servers.rate_limiting import Clock, subjects


@pytest.fixture
def clock(monkeypatch):
    """The time of windows and of the pause after a Redis failure; keys in Redis expire by the server's."""
    clock = Clock()
    for windows in (MemoryWindows, RedisWindows):
        monkeypatch.setattr(windows, "now", lambda _: clock.read())
    monkeypatch.setattr(redispy, "time", SimpleNamespace(time=clock.read))
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=clock.read))
    return clock


@pytest.fixture
def patience(monkeypatch):
    """More time for Redis to answer, as other tests run at the same time; a hanging Redis takes all of it."""
    monkeypatch.setattr(redis_windows, "REDIS_TIMEOUT_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(redis_windows, "CONNECTION_WAIT_SECONDS", PATIENCE_SECONDS)


@pytest.fixture
def hits(monkeypatch):
    """The storages asked to take a charge, in order."""
    asked = []
    for windows in (MemoryWindows, RedisWindows):

        async def acquire_entry(self, *arguments, _take=windows.acquire_entry, **options):
            asked.append(type(self))
            return await _take(self, *arguments, **options)

        monkeypatch.setattr(windows, "acquire_entry", acquire_entry)
    return asked


@pytest.fixture
def subject():
    return next(subjects)


@pytest.fixture
def own_logs() -> Iterator[None]:
    """Logs that the test configures. It comes before `capfd`, whose stream is closed when others log."""
    yield
    configure_logs("console", "info")
