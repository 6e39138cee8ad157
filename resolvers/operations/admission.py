"""Admission: a request's budget, credential and scopes, checked before anything else is read."""

from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from oauth.principals import CORE_KINDS, PrincipalKind
from oauth.scopes import Scope, covers, that_would_do
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

# How long after entering the password a browser session may grant access to others.
FRESH_FOR = timedelta(hours=1)


@dataclass(frozen=True)
class Demand:
    """What one operation or link requires of the caller's credential; nothing if `kinds` is empty.

    `fresh` requires that the user of a browser session entered the password within the last hour.
    """

    scope: Scope | None
    kinds: frozenset[PrincipalKind] = CORE_KINDS
    fresh: bool = False

    @classmethod
    def of(cls, operation: Operation) -> "Demand":
        return cls(operation.scope, operation.kinds, operation.fresh)


async def admit(caller: Caller, demands: Iterable[Demand], *, restricted: bool = False) -> None:
    """Charge the request's first call to the caller's subject and check its demands; a refusal costs a call.

    Raises `RateLimited`, `Unauthorized`, `NotPermitted`, `InsufficientScope` or `ReauthenticationRequired`.
    """
    await _charge(caller, 1, restricted=restricted)
    check_demands(caller, demands)


async def charge_rest(caller: Caller, cost: int, *, restricted: bool = False) -> None:
    """Charge the request's cost of at least 1 beyond its first call, which `admit` has charged.

    Raises `RateLimited`, or `TooComplex` if the cost could never fit the limit.
    """
    largest = caller.budget.largest(_limit(caller))
    if largest is not None and cost > largest:
        raise TooComplex(f"This request costs {cost} calls; the limit is {largest} per minute.")
    # `admit` could not charge the lower budget, which is known only once the document is read.
    if cost > 1 or restricted:
        await _charge(caller, cost if restricted else cost - 1, restricted=restricted)


def check_demands(caller: Caller, demands: Iterable[Demand]) -> None:
    """Raises the refusal of the first demand that is not met, as `admit` does."""
    for demand in demands:
        refusal = _refusal(caller, demand)
        if refusal is not None:
            raise refusal


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
    principal, scope = caller.principal, demand.scope
    if not demand.kinds:
        return None
    if principal is None:
        return Unauthorized()
    if principal.kind not in demand.kinds:
        accepted = ", ".join(sorted(kind.replace("_", " ") for kind in demand.kinds))
        return NotPermitted(f"A {principal.kind.replace('_', ' ')} cannot do this; use one of: {accepted}.")
    if scope is not None and not covers(principal.scopes, scope):
        return InsufficientScope(that_would_do(scope))
    if demand.fresh and principal.kind is PrincipalKind.BROWSER_SESSION:
        proved_at = principal.authenticated_at
        if proved_at is None or now() - proved_at > FRESH_FOR:
            return ReauthenticationRequired()
    return None
