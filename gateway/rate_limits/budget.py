"""Charges calls to a subject: the limiter, the limits, and the headers that report them to the caller."""

from collections import Counter

from gateway.rate_limits.limits import Charge, RateLimiter, headers
from schema.errors import RateLimited

RESTRICTED = "restricted:"
# A workspace's customers, or an owner's OAuth clients, together have this many times the limit of one.
ROOF = 10


class RequestBudget:
    """One request's access to the limiter; stores the headers of the last charge for the response.

    `RateLimit-Cost` is the number of calls that the request was charged in that budget.
    """

    def __init__(
        self, limiter: RateLimiter, default: int, restricted: int, response_headers: dict[str, str]
    ) -> None:
        self._limiter = limiter
        self._default = default
        self._restricted = restricted
        self._response_headers = response_headers
        self._charged: Counter[str] = Counter()

    def largest(self, limit: int | None) -> int | None:
        """The most calls that a minute can ever hold; None if there is no limit."""
        return (self._default if limit is None else limit) or None

    async def charge(
        self, subject: str, cost: int, limit: int | None, *, restricted: bool, roof: str | None = None
    ) -> None:
        """Charge `cost` calls. Raises `RateLimited`, whose headers say when the whole request will fit.

        The subject `roof` is charged too, with ten times the limit.
        """
        most = self._default if limit is None else limit
        if restricted:
            subject, most = RESTRICTED + subject, self._restricted
        charge = await self._charge(subject, cost, most)
        if roof is not None and charge.allowed:
            above = await self._charge(roof, cost, most * ROOF)
            charge = charge if above.allowed else above
        self._response_headers.update(headers(charge))
        self._response_headers["RateLimit-Cost"] = str(self._charged[subject])
        if not charge.allowed:
            raise RateLimited(
                f"More than {charge.limit} calls in {charge.window_seconds} seconds: "
                f"try again in {charge.retry_after} seconds."
            )

    async def _charge(self, subject: str, cost: int, limit: int) -> Charge:
        self._charged[subject] += cost
        return await self._limiter.charge(subject, cost, limit, again=self._charged[subject])
