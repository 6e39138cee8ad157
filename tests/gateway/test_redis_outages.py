"""The rate limiter while Redis is gone, hangs, or is back."""

import asyncio
import logging
import signal
import tempfile
from pathlib import Path

import pytest

from gateway.rate_limits import redis_windows
from gateway.rate_limits.limits import REDIS_PAUSE_SECONDS, WARNING_INTERVAL_SECONDS
from gateway.rate_limits.moving_windows import MemoryWindows
from gateway.rate_limits.redis_windows import RedisWindows
from tests.support.servers.rate_limiting import rate_limiter, redis_server

pytestmark = pytest.mark.usefixtures("clock", "patience")


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGSTOP])
async def test_without_redis_each_process_counts_alone_and_warns_once(
    caplog, subject, hits, stop, monkeypatch
):
    # All of this is waited for, once.
    monkeypatch.setattr(redis_windows, "REDIS_TIMEOUT_SECONDS", 5.0)
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis.sock") as server:
        async with rate_limiter(f"unix://{folder}/redis.sock") as limiter:
            assert (await limiter.charge(subject, 2, 3)).allowed
            server.send_signal(stop)
            with caplog.at_level(logging.WARNING, logger="gateway.rate_limits.limits"):
                charges = [await limiter.charge(subject, 1, 3) for _ in range(4)]
    # The first charge waits for Redis, the others do not.
    assert hits == [RedisWindows] * 2 + [MemoryWindows] * 4
    assert [charge.allowed for charge in charges] == [True, True, True, False]
    (warning,) = [record for record in caplog.records if record.name == "gateway.rate_limits.limits"]
    assert "Redis does not answer" in warning.getMessage()


async def test_a_redis_that_was_never_there_fails_no_request(tmp_path, subject):
    async with rate_limiter(f"unix://{tmp_path}/nowhere.sock") as limiter:
        charges = await asyncio.gather(*(limiter.charge(subject, 1, 20) for _ in range(40)))
    assert sum(charge.allowed for charge in charges) == 20


async def test_a_redis_that_stays_away_is_told_of_once_a_minute(caplog, tmp_path, subject, clock):
    async with rate_limiter(f"unix://{tmp_path}/nowhere.sock") as limiter:
        for pauses, told in ((1, 1), (2, 1), (WARNING_INTERVAL_SECONDS // REDIS_PAUSE_SECONDS, 2)):
            for _ in range(pauses):
                await limiter.charge(subject, 1, 100)
                clock.advance(REDIS_PAUSE_SECONDS)
            warnings = [record for record in caplog.records if record.name == "gateway.rate_limits.limits"]
            assert len(warnings) == told


async def test_redis_is_used_again_when_it_is_back(subject, clock):
    with tempfile.TemporaryDirectory() as folder:
        url = f"unix://{folder}/redis.sock"
        async with rate_limiter(url) as limiter, rate_limiter(url) as other:
            assert (await limiter.charge(subject, 1, 3)).remaining == 2
            with redis_server(Path(folder) / "redis.sock"):
                assert (await limiter.charge(subject, 1, 3)).remaining == 1
                clock.advance(REDIS_PAUSE_SECONDS)
                assert (await limiter.charge(subject, 1, 3)).remaining == 2
                assert (await other.charge(subject, 1, 3)).remaining == 1


async def test_a_restarted_redis_is_used_without_a_warning(caplog, subject):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "redis.sock"
        async with rate_limiter(f"unix://{path}") as limiter:
            with redis_server(path):
                await limiter.charge(subject, 1, 3)
            path.unlink(missing_ok=True)
            with redis_server(path):
                assert (await limiter.charge(subject, 1, 3)).remaining == 2
    assert not [record for record in caplog.records if record.name == "gateway.rate_limits.limits"]
