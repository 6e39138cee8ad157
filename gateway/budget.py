"""What calls cost a subject: the limiter, the limits, and the headers that tell the caller."""

from gateway.limits import RateLimiter, headers
from schema.errors import RateLimited

RESTRICTED = "restricted:"


class RequestBudget:
    """One request's way to the limiter; keeps the headers of the last charge for the response.

    `RateLimit-Cost` is what the request was charged, in calls.
    """

    def __init__(
        self, limiter: RateLimiter, default: int, restricted: int, response_headers: dict[str, str]
    ) -> None:
        self._limiter = limiter
        self._default = default
        self._restricted = restricted
        self._response_headers = response_headers

    def largest(self, limit: int | None) -> int | None:
        """The most that could ever fit in a minute; None where there is no limit."""
        return (self._default if limit is None else limit) or None

    async def charge(self, subject: str, cost: int, limit: int | None, *, restricted: bool) -> None:
        """Charge `cost` calls. Raises `RateLimited`; its headers say when they fit."""
        if restricted:
            charge = await self._limiter.charge(RESTRICTED + subject, cost, self._restricted)
        else:
            charge = await self._limiter.charge(subject, cost, self._default if limit is None else limit)
        self._response_headers.update(headers(charge))
        self._response_headers["RateLimit-Cost"] = str(cost)
        if not charge.allowed:
            raise RateLimited(
                f"More than {charge.limit} calls in {charge.window_seconds} seconds: "
                f"try again in {charge.retry_after} seconds."
            )
