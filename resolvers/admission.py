"""Admission: credential, scopes and budget of a request, checked before anything else of it is read."""

from collections.abc import Iterable
from dataclasses import dataclass

from oauth.principals import CORE_KINDS, PrincipalKind
from oauth.scopes import Scope, covers, that_would_do
from resolvers.context import Caller
from resolvers.operations import Operation
from schema.errors import InsufficientScope, NotPermitted, TooComplex, Unauthorized


@dataclass(frozen=True)
class Demand:
    """What one operation or link asks of the caller's credential: nothing where it takes no kind of one."""

    scope: Scope | None
    kinds: frozenset[PrincipalKind] = CORE_KINDS

    @classmethod
    def of(cls, operation: Operation) -> "Demand":
        return cls(operation.scope, operation.kinds)


async def admit(caller: Caller, demands: Iterable[Demand], cost: int, *, restricted: bool = False) -> None:
    """Let the request in and charge its cost to the caller's subject.

    Raises `Unauthorized`, `NotPermitted`, `InsufficientScope`, `TooComplex` (it could never fit the
    limit) or `RateLimited`.
    """
    for demand in demands:
        if demand.kinds:
            _permit(caller, demand.scope, demand.kinds)
    principal = caller.principal
    subject = caller.address if principal is None or restricted else principal.subject
    limit = principal.requests_per_minute if principal else None
    largest = caller.budget.largest(limit)
    if largest is not None and cost > largest:
        raise TooComplex(f"This document costs {cost} calls; the limit is {largest} in a minute.")
    await caller.budget.charge(subject, cost, limit, restricted=restricted)


def _permit(caller: Caller, scope: Scope | None, kinds: frozenset[PrincipalKind]) -> None:
    principal = caller.principal
    if principal is None:
        raise Unauthorized
    if principal.kind not in kinds:
        taken = ", ".join(sorted(kind.replace("_", " ") for kind in kinds))
        raise NotPermitted(f"A {principal.kind.replace('_', ' ')} cannot do this; it takes: {taken}.")
    if scope is not None and not covers(principal.scopes, scope):
        raise InsufficientScope(that_would_do(scope))
