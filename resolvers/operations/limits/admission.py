"""Admission: a request's budget, credential and scopes, checked before anything else is read."""

from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from oauth.principals import CORE_KINDS, PrincipalKind
from oauth.scopes import Scope, any_that_would_do
from resolvers.operations.context import Caller
from resolvers.operations.declaration import LARGEST_BODY, Operation
from schema.errors import (
    Failure,
    InsufficientScope,
    NotPermitted,
    ReauthenticationRequired,
    TooComplex,
    Unauthorized,
)
from storage.clock import now

# A list, and a link over all objects that have it, cost a call for each so many objects that they may hold.
OBJECTS_PER_CALL = 100
# How long after entering the password a browser session may grant access to others.
FRESH_FOR = timedelta(hours=1)


@dataclass(frozen=True)
class Demand:
    """What one operation or link requires of the caller's credential; nothing if `kinds` is empty.

    A `scope` of None with `any_of` requires one of these scopes. `fresh` requires that the user of a browser
    session entered the password within the last hour.
    """

    scope: Scope | None
    kinds: frozenset[PrincipalKind] = CORE_KINDS
    fresh: bool = False
    any_of: tuple[Scope, ...] = ()

    @classmethod
    def of(cls, operation: Operation) -> "Demand":
        return cls(operation.scope, operation.kinds, operation.fresh, operation.any_of)

    def is_met_by(self, scopes: frozenset[Scope]) -> bool:
        """Whether these scopes suffice."""
        return not (self.sufficient_scopes and scopes.isdisjoint(self.sufficient_scopes))

    @cached_property
    def sufficient_scopes(self) -> tuple[Scope, ...]:
        """The scopes that each suffice; empty if any credential does."""
        return any_that_would_do(self.any_of if self.scope is None else (self.scope,))


async def admit(caller: Caller, demands: Iterable[Demand], *, restricted: bool = False) -> None:
    """Charge the request's first call to the caller's subject and check its demands; a refusal costs a call.

    Raises `RateLimited`, `Unauthorized`, `NotPermitted`, `InsufficientScope` or `ReauthenticationRequired`.
    """
    await _charge(caller, 1, restricted=restricted)
    check_demands(caller, demands)


async def charge_remainder(caller: Caller, cost: int, *, restricted: bool = False) -> None:
    """Charge a request beyond its first call, which `admit` has charged, if it costs more or is `restricted`.

    Raises `RateLimited`, or `TooComplex` if the cost could never fit the limit.
    """
    largest = caller.budget.largest(_limit(caller))
    if largest is not None and cost > largest:
        raise TooComplex(f"This request costs {cost} calls; the limit is {largest} per minute.")
    # `admit` could not charge the lower budget, which is known only once the document is read.
    await _charge(caller, cost if restricted else cost - 1, restricted=restricted)


def calls_for(objects: int) -> int:
    """The cost in calls of reading at most so many objects."""
    return max(1, -(-objects // OBJECTS_PER_CALL))


def check_demands(caller: Caller, demands: Iterable[Demand]) -> None:
    """Raises the refusal of the first demand that is not met, as `admit` does."""
    refusal = first_refusal(caller, demands)
    if refusal is not None:
        raise refusal


def first_refusal(caller: Caller, demands: Iterable[Demand]) -> Failure | None:
    """The refusal of the first demand that is not met; None if all are met."""
    for demand in demands:
        refusal = _refusal(caller, demand)
        if refusal is not None:
            return refusal
    return None


def largest_body(caller: Caller, operations: Iterable[Operation]) -> int:
    """The largest body in bytes of the operations that the caller may run."""
    sizes = [item.largest_body for item in operations if _refusal(caller, Demand.of(item)) is None]
    return max(sizes, default=LARGEST_BODY)


def _charge(caller: Caller, cost: int, *, restricted: bool) -> Awaitable[None]:
    principal, limit = caller.principal, _limit(caller)
    if principal is None or restricted:
        return caller.budget.charge(caller.address, cost, limit, restricted=restricted)
    return caller.budget.charge(principal.subject, cost, limit, restricted=False, roof=principal.roof)


def _limit(caller: Caller) -> int | None:
    return caller.principal.requests_per_minute if caller.principal else None


def _refusal(caller: Caller, demand: Demand) -> Failure | None:
    principal = caller.principal
    if not demand.kinds:
        return None
    if principal is None:
        return Unauthorized()
    if principal.kind not in demand.kinds:
        accepted = ", ".join(sorted(kind.replace("_", " ") for kind in demand.kinds))
        return NotPermitted(f"A {principal.kind.replace('_', ' ')} cannot do this; use one of: {accepted}.")
    if not demand.is_met_by(principal.scopes):
        return InsufficientScope(demand.sufficient_scopes)
    if demand.fresh and principal.kind is PrincipalKind.BROWSER_SESSION:
        proved_at = principal.authenticated_at
        if proved_at is None or now() - proved_at > FRESH_FOR:
            return ReauthenticationRequired()
    return None
