"""How many calls each subject may make in any minute: charges, and the headers that report them."""

import hashlib
import logging
import math
import time
from typing import TYPE_CHECKING, NamedTuple

from gateway.rate_limits.moving_windows import MemoryWindows, Windows

if TYPE_CHECKING:
    from gateway.rate_limits.redis_windows import RedisWindows

WINDOW_SECONDS = 60
REDIS_PAUSE_SECONDS = 5
WARNING_INTERVAL_SECONDS = 60
READABLE_SUBJECT_LENGTH = 128
# More than a window ever holds.
ANY = 2**31

logger = logging.getLogger(__name__)


class Charge(NamedTuple):
    """The result of one charge. A `limit` of 0 means that none applies; the other numbers are then 0.

    `remaining`: the calls that still fit now. `reset_seconds`: whole seconds until the oldest charge leaves
    the window, so that more calls fit; 0 when the window is empty. `retry_after`: 0 when allowed, else the
    whole seconds (at least 1, at least `reset_seconds`) after which the same cost is accepted, unless the
    subject is charged again in the meantime.
    """

    allowed: bool
    limit: int
    remaining: int
    reset_seconds: int
    retry_after: int
    window_seconds: int = WINDOW_SECONDS


def headers(charge: Charge) -> dict[str, str]:
    """The response headers of a charge; none when no limit applies.

    They follow both generations of draft-ietf-httpapi-ratelimit-headers: the single fields (up to -06), which
    most clients read, and the structured `RateLimit-Policy` and `RateLimit` (from -08 on). A refusal adds
    `Retry-After`.
    """
    if charge.limit == 0:
        return {}
    fields = {
        "RateLimit-Limit": str(charge.limit),
        "RateLimit-Remaining": str(charge.remaining),
        "RateLimit-Reset": str(charge.reset_seconds),
        "RateLimit-Policy": f'"default";q={charge.limit};w={charge.window_seconds}',
        "RateLimit": f'"default";r={charge.remaining};t={charge.reset_seconds}',
    }
    if not charge.allowed:
        fields["Retry-After"] = str(charge.retry_after)
    return fields


class RateLimiter:
    """Budgets of subjects over any `window_seconds`: in this process or, with `redis_url`, shared in Redis.

    While Redis does not answer, no request is refused or fails because of it: each process counts on its own,
    from an empty window, and tries Redis again every 5 seconds. A warning is logged at most once a minute.
    """

    def __init__(self, redis_url: str | None = None, window_seconds: int = WINDOW_SECONDS) -> None:
        self._window_seconds = window_seconds
        self._local = MemoryWindows()
        self._shared = _shared_windows(redis_url) if redis_url else None
        self._redis_failed = False
        self._next_attempt = -math.inf
        self._next_warning = -math.inf

    async def charge(
        self, subject: str, cost: int, limit: int, again: int | None = None, *, forced: bool = False
    ) -> Charge:
        """Take `cost` from the subject's budget of `limit` in any window; a refusal takes nothing.

        A subject keeps its window when its limit changes. `limit` 0 turns the limit off; a cost of 0 is
        always allowed. A cost above the limit is refused and never fits, whatever `retry_after` says, so
        callers compare the two first. A request that is charged in parts passes the cost of a retry as
        `again`, and `retry_after` is then for that cost. A `forced` charge is taken even if it does not fit,
        so that later ones wait the longer. Raises `ValueError` for a negative cost or limit.
        """
        if cost < 0 or limit < 0:
            raise ValueError(f"A cost and a limit are 0 or more, not {cost} and {limit}.")
        if limit == 0:
            return Charge(True, 0, 0, 0, 0, self._window_seconds)
        if self._shared is not None and self._redis_may_answer():
            try:
                charge = await self._charge(self._shared, subject, cost, limit, again or cost, forced)
            except self._shared.failures as error:
                self._note_redis_failure(error)
            else:
                self._redis_failed = False
                return charge
        return await self._charge(self._local, subject, cost, limit, again or cost, forced)

    async def close(self) -> None:
        await self._local.close()
        if self._shared is not None:
            await self._shared.close()

    async def _charge(  # noqa: PLR0917
        self, windows: Windows, subject: str, cost: int, limit: int, again: int, forced: bool
    ) -> Charge:
        # The steps of the library's moving window strategy, without its objects for each of them.
        key, seconds = _key_of(subject), self._window_seconds
        most = ANY if forced else limit
        allowed = cost == 0 or await windows.acquire_entry(key, most, seconds, amount=cost)
        oldest, used = await windows.get_moving_window(key, limit, seconds)
        remaining = min(max(limit - used, 0), limit)
        reset_seconds = 0 if remaining == limit else _seconds_until(oldest + seconds, windows.now())
        retry_after = 0
        if not allowed:
            fits_at = windows.now() + seconds
            if again <= limit:
                fits_at = await windows.fits_at(key, limit, seconds, again)
            retry_after = max(_seconds_until(fits_at, windows.now()), reset_seconds)
        return Charge(allowed, limit, remaining, reset_seconds, retry_after, seconds)

    def _redis_may_answer(self) -> bool:
        if not self._redis_failed:
            return True
        if time.monotonic() < self._next_attempt:
            return False
        # One request tests whether Redis is back; the others do not wait for the result.
        self._next_attempt = time.monotonic() + REDIS_PAUSE_SECONDS
        return True

    def _note_redis_failure(self, error: Exception) -> None:
        now = time.monotonic()
        self._redis_failed = True
        self._next_attempt = now + REDIS_PAUSE_SECONDS
        if now >= self._next_warning:
            self._next_warning = now + WARNING_INTERVAL_SECONDS
            reason = type(error).__name__
            logger.warning("Redis does not answer, so this process counts its rate limits alone: %s", reason)


def _shared_windows(url: str) -> "RedisWindows":
    # The libraries for Redis take a twentieth of the time of a start.
    from gateway.rate_limits.redis_windows import RedisWindows  # noqa: PLC0415

    return RedisWindows(url)


def _key_of(subject: str) -> str:
    """The subject's key. It does not contain the limit, so that a changed limit does not empty the window."""
    if len(subject) <= READABLE_SUBJECT_LENGTH and subject.isascii():
        return subject
    # A subject may contain text from a client (a client id) of any length, even with lone surrogates.
    return "sha256:" + hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()


def _seconds_until(moment: float, now: float) -> int:
    """Whole seconds, at least 1, until `moment` is past: an entry still counts at that very moment."""
    return max(math.floor(moment - now) + 1, 1)
