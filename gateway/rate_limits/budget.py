"""Charges calls to a subject: the limiter, the limits, and the headers that report them to the caller."""

from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field

from gateway.rate_limits.limits import Charge, RateLimiter, headers
from resolvers.operations.limits.answer_size import calls_for_bytes
from schema.errors import RateLimited
from storage.engine.lending.payers import Payer

RESTRICTED = "restricted:"
# A workspace's customers, or an owner's OAuth clients, together have this many times the limit of one.
ROOF = 10
# More than an answer has that ends.
MOST_CHARGES = 100


@dataclass(frozen=True)
class Budgets:
    """The limits of the process: calls a minute by default and for restricted operations.

    `refusals` counts the charges that did not fit, by kind: `default`, `restricted` and `roof`. The database
    works `milliseconds` for one call, 0 for no charge.
    """

    limiter: RateLimiter
    default: int
    restricted: int
    refusals: Counter[str] = field(default_factory=Counter)
    milliseconds: int = 0

    def make(self) -> "RequestBudget":
        """The budget of one request."""
        return RequestBudget(self.limiter, self.default, self.restricted, self.refusals, self.milliseconds)


class RequestBudget:
    """One request's access to the limiter."""

    def __init__(
        self, limiter: RateLimiter, default: int, restricted: int, refusals: Counter[str], milliseconds: int
    ) -> None:
        self._refusals = refusals
        self._limiter = limiter
        self._default = default
        self._restricted = restricted
        self._charged: dict[str, int] = {}
        # Of these, the calls that fitted, and those that a request which begins again has paid for already.
        self._granted: dict[str, int] = {}
        self._paid: dict[str, int] = {}
        self._charges: list[Charge] = []
        self._charges_before: list[Charge] = []
        # The subjects of the last charge, each with its limit; 0 if none applies.
        self._last: list[tuple[str, int]] = []
        self._calls_for_answer = 0
        # The seconds of the database for one more call, those before the next one, and who it works for.
        self._seconds_of_a_call = milliseconds / 1000
        self._paid_seconds = 2 * self._seconds_of_a_call
        self.payer: Payer | None = None
        # The calls charged in the budget of the last charge: the answer's `RateLimit-Cost`.
        self.cost: int | None = None

    def headers(self) -> dict[str, str]:
        """The answer's headers about its limits, those of the last charge; none if no limit applies."""
        fields: dict[str, str] = {}
        for charge in self._charges:
            if charge.limit:
                fields.update(headers(charge))
        return fields

    def begin_again(self) -> None:
        """The request is answered anew: what was charged for it counts for what is charged from now on."""
        self._paid, self._granted, self._charged = self._granted, {}, {}
        # Whoever asks now may be another one, whom the headers of those charges tell too much.
        self._charges_before, self._charges = self._charges, []

    def largest(self, limit: int | None) -> int | None:
        """The most calls that a minute can ever hold; None if there is no limit."""
        return (self._default if limit is None else limit) or None

    def report(self) -> dict[str, int | None]:
        """The calls `requested` so far, the `limit` and how many are `remaining`; null without a limit.

        They are those of the headers: of the last charge to which a limit applies.
        """
        limited = [charge for charge in self._charges if charge.limit]
        last = limited[-1] if limited else None
        return {
            "requested": self.cost,
            "limit": last.limit if last else None,
            "remaining": last.remaining if last else None,
        }

    async def charge(
        self, subject: str, cost: int, limit: int | None, *, restricted: bool, roof: str | None = None
    ) -> None:
        """Charge `cost` calls. Raises `RateLimited`; its headers say when the whole request will fit.

        The subject `roof` is charged too, with ten times the limit.
        """
        most = self._default if limit is None else limit
        if restricted:
            subject, most = RESTRICTED + subject, self._restricted
        self._last = [(subject, most)]
        is_paid = self._paid.get(subject, 0) >= cost
        if most == 0 or is_paid:
            if is_paid:
                self._paid[subject] -= cost
                self._charges, self._charges_before = self._charges_before + self._charges, []
            self.cost = self._add(subject, cost)
            return
        charge = await self._charge(subject, cost, most)
        if roof is not None:
            self._last.append((roof, most * ROOF))
        if roof is not None and charge.allowed:
            above = await self._charge(roof, cost, most * ROOF)
            charge = charge if above.allowed else above
        self._charges.append(charge)
        self.cost = self._charged[subject]
        if not charge.allowed:
            of_one = "restricted" if restricted else "default"
            self._refusals[of_one if charge.limit == most else "roof"] += 1
            raise RateLimited(
                f"More than {charge.limit} calls in {charge.window_seconds} seconds: "
                f"try again in {charge.retry_after} seconds."
            )
        self._granted[subject] = self._charged[subject]

    async def charge_answer(self, size: int) -> None:
        """Charge the bytes of the answer. A later size counts as far as it costs more than those before."""
        calls = calls_for_bytes(size) - self._calls_for_answer
        if calls > 0:
            self._calls_for_answer += calls
            await self.charge_afterwards(calls)

    async def charge_afterwards(self, calls: int) -> None:
        """Charge calls to the subjects of the last charge; if they do not fit, later ones wait longer."""
        for subject, limit in reversed(self._last):
            self.cost = self._add(subject, calls)
            self._charges.append(await self._limiter.charge(subject, calls, limit, forced=True))
        # A stream is charged for as long as it lasts, and only the last charges are reported.
        del self._charges[:-MOST_CHARGES]

    @property
    def owes(self) -> bool:
        """Whether the database has worked for longer than what is charged."""
        return self.payer is not None and self.payer.seconds >= self._paid_seconds > 0

    async def charge_database(self) -> None:
        """Charge a call for each `milliseconds` that the database has worked and that are not charged yet."""
        if self.payer is not None and self.owes:
            unpaid = self.payer.seconds - self._paid_seconds
            calls = int(unpaid / self._seconds_of_a_call) + 1
            self._paid_seconds += calls * self._seconds_of_a_call
            await self.charge_afterwards(calls)

    def _charge(self, subject: str, cost: int, limit: int) -> Awaitable[Charge]:
        return self._limiter.charge(subject, cost, limit, self._add(subject, cost))

    def _add(self, subject: str, cost: int) -> int:
        """The calls charged to the subject for this request, with these."""
        self._charged[subject] = charged = self._charged.get(subject, 0) + cost
        return charged
