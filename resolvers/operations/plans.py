"""Plans: kept statements by the form of what was asked, so that each form is built and compiled once.

A plan never contains a value of a request: callers, filters and places are parameters (`bindparam`).
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from sqlalchemy import Uuid, bindparam

from oauth.principals import Principal
from storage.clock import now
from storage.kept import Kept
from storage.types import MomentColumn

# A plan takes some 20 KB with its text and its conversions.
MOST_PLANS = 1000
# The moment of a request, for conditions that end with time.
MOMENT = bindparam("moment", type_=MomentColumn())
_REACH = ("workspace_id", "user_id", "customer_id", "member_id")

_plans: OrderedDict[Hashable, Kept] = OrderedDict()


def plan_for(key: Hashable, make: Callable[[], Kept]) -> Kept:
    """The plan of this form, made at its first use; the one used least recently is forgotten."""
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = make()
        if len(_plans) > MOST_PLANS:
            _plans.popitem(last=False)
    else:
        _plans.move_to_end(key)
    return plan


def form_of(principal: Principal) -> Hashable:
    """What a statement depends on of a principal besides the values: which ids it has."""
    return tuple(getattr(principal, name) is not None for name in _REACH)


def with_places(principal: Principal) -> Principal:
    """The principal with places instead of its ids, for the conditions of a plan."""
    given = (name for name in _REACH if getattr(principal, name) is not None)
    places: dict[str, Any] = {name: bindparam(f"principal_{name}", type_=Uuid()) for name in given}
    return replace(principal, **places)


def values_of_caller(principal: Principal) -> dict[str, Any]:
    """The values of those places and of `MOMENT`."""
    return {f"principal_{name}": getattr(principal, name) for name in _REACH} | {"moment": now()}
