"""The rate limiter's moving window, in memory and on a real Redis."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.rate_limits.limits import Charge, RateLimiter, headers
from gateway.rate_limits.moving_windows import MemoryWindows
from tests.support.measures.work import counted_calls
from tests.support.servers.rate_limiting import rate_limiter, redis_server, subjects

pytestmark = pytest.mark.usefixtures("clock", "patience")


@pytest.fixture(scope="module")
def redis_url():
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis.sock"):
        yield f"unix://{folder}/redis.sock"


@pytest.fixture(params=["memory", "redis"])
def url(request):
    return None if request.param == "memory" else request.getfixturevalue("redis_url")


async def test_charges_are_allowed_up_to_the_limit_and_then_refused(url, subject):
    async with rate_limiter(url) as limiter:
        charges = [await limiter.charge(subject, 1, 3) for _ in range(4)]
    assert [charge.allowed for charge in charges] == [True, True, True, False]
    assert [charge.remaining for charge in charges] == [2, 1, 0, 0]
    assert [charge.reset_seconds for charge in charges] == [60] * 4
    assert [charge.retry_after for charge in charges[:3]] == [0, 0, 0]
    assert charges[3].retry_after == 60


async def test_subjects_have_budgets_of_their_own(url, subject):
    async with rate_limiter(url) as limiter:
        assert (await limiter.charge(subject, 1, 1)).allowed
        assert (await limiter.charge(next(subjects), 1, 1)).allowed
        assert not (await limiter.charge(subject, 1, 1)).allowed


async def test_the_window_moves_instead_of_starting_anew(url, subject, clock):
    async with rate_limiter(url) as limiter:
        assert (await limiter.charge(subject, 1, 4)).allowed
        clock.advance(40)
        assert (await limiter.charge(subject, 3, 4)).allowed
        clock.advance(25)
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


async def test_a_forced_charge_is_taken_below_zero_and_later_ones_wait_for_it(url, subject, clock):
    async with rate_limiter(url) as limiter:
        assert (await limiter.charge(subject, 1, 10)).allowed
        clock.advance(40)
        forced = await limiter.charge(subject, 30, 10, forced=True)
        assert (forced.allowed, forced.remaining) == (True, 0)
        clock.advance(25)
        # The first charge has left the window.
        refused = await limiter.charge(subject, 1, 10)
        assert (refused.allowed, refused.retry_after) == (False, 35)
        clock.advance(36)
        again = await limiter.charge(subject, 10, 10)
        assert (again.allowed, again.remaining) == (True, 0)


async def test_a_cost_of_thousands_is_one_charge(url, subject, hits):
    async with rate_limiter(url) as limiter:
        charge = await limiter.charge(subject, 12_000, 20_000)
        assert (charge.allowed, charge.remaining) == (True, 8_000)
        assert not (await limiter.charge(subject, 8_001, 20_000)).allowed
    assert len(hits) == 2


@pytest.mark.parametrize(("cost", "seconds"), [(1, 30), (3, 30), (4, 60), (7, 60)])
async def test_after_retry_after_the_same_cost_is_accepted_and_not_a_second_before(
    url, subject, clock, cost, seconds
):
    async with rate_limiter(url) as limiter:
        await limiter.charge(subject, 3, 7)
        clock.advance(30.5)
        await limiter.charge(subject, 4, 7)
        refused = await limiter.charge(subject, cost, 7)
        assert (refused.allowed, refused.retry_after) == (False, seconds)
        clock.advance(refused.retry_after - 1)
        assert not (await limiter.charge(subject, cost, 7)).allowed
        clock.advance(1)
        assert (await limiter.charge(subject, cost, 7)).allowed


async def test_a_retry_that_costs_less_and_fits_already_may_come_at_once(url, subject, clock):
    async with rate_limiter(url) as limiter:
        await limiter.charge(subject, 3, 7)
        clock.advance(50)
        refused = await limiter.charge(subject, 5, 7, again=2)
        # Not before more calls fit than now, which is what the other header says.
        assert (refused.allowed, refused.reset_seconds, refused.retry_after) == (False, 10, 10)
        assert (await limiter.charge(subject, 2, 7)).allowed
        # Of a subject that was not charged, nothing has to leave.
        refused = await limiter.charge(next(subjects), 8, 7, again=2)
        assert (refused.allowed, refused.reset_seconds, refused.retry_after) == (False, 0, 1)


async def test_the_reset_is_when_the_oldest_charge_leaves(url, subject, clock):
    async with rate_limiter(url) as limiter:
        await limiter.charge(subject, 3, 7)
        clock.advance(35.25)
        charge = await limiter.charge(subject, 1, 7)
        assert (charge.remaining, charge.reset_seconds) == (3, 25)
        clock.advance(charge.reset_seconds - 1)
        assert (await limiter.charge(subject, 0, 7)).remaining == 3
        clock.advance(1)
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
    async with rate_limiter(redis_url) as limiter, Redis.from_url(redis_url) as client:
        await limiter.charge(subject, 5, 10)
        (key,) = await client.keys(f"*{subject}")
        assert 0 < await client.ttl(key) <= 60


async def test_memory_forgets_100_000_subjects_with_their_window(subject, clock):
    windows = MemoryWindows()
    for number in range(100_000):
        await windows.acquire_entry(f"address:{number}", 500, 60)
    clock.advance(60)
    with counted_calls() as calls:
        await windows.acquire_entry(subject, 500, 60)
    assert calls.number < 10 * 100_000
    assert list(windows.windows) == [subject]


async def test_memory_keeps_the_subjects_whose_window_is_not_over(subject, clock):
    windows = MemoryWindows()
    await windows.acquire_entry("address:old", 2, 60)
    await windows.acquire_entry(subject, 2, 60)
    clock.advance(40)
    await windows.acquire_entry(subject, 2, 60)
    clock.advance(40)
    assert not await windows.acquire_entry(subject, 2, 60, 2)
    assert list(windows.windows) == [subject]


def test_a_url_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="URL"):
        RateLimiter("memcached://localhost")


def test_an_allowed_charge_has_the_headers_of_both_drafts():
    assert headers(Charge(True, 500, 499, 60, 0)) == {
        "RateLimit-Limit": "500",
        "RateLimit-Remaining": "499",
        "RateLimit-Reset": "60",
        "RateLimit-Policy": '"default";q=500;w=60',
        "RateLimit": '"default";r=499;t=60',
    }


def test_a_refused_charge_says_when_to_try_again():
    fields = headers(Charge(False, 500, 3, 2, 17))
    assert fields["Retry-After"] == "17"
    assert fields["RateLimit"] == '"default";r=3;t=2'
