"""Plans: kept statements by the form of what was asked, so that each form is built and compiled once.

A plan never contains a value of a request: callers, filters and places are parameters (`bindparam`).
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from sqlalchemy import Executable, Uuid, bindparam
from sqlalchemy.engine import Dialect

from oauth.principals import Principal
from storage.dialects.matching import ListOf
from storage.engine.kept_statements import Kept
from storage.types import CurrentMoment

# A plan takes 5 to 10 KB with its text and its conversions, one with 50 pairs of metadata 24, measured with
# tracemalloc.
MOST_PLANS = 1000
_ID, _IDS = Uuid(), ListOf(Uuid())
# For conditions that end with time.
MOMENT = bindparam("moment", type_=CurrentMoment())

# By the name of the dialect and the form.
_plans: defaultdict[str, OrderedDict[Hashable, Kept]] = defaultdict(OrderedDict)


def plan_for(dialect: Dialect, form: Hashable, make: Callable[[], Executable]) -> Kept:
    """The plan of this form, made at its first use; the one used least recently is forgotten."""
    plans = _plans[dialect.name]
    plan = plans.get(form)
    if plan is None:
        plan = plans[form] = Kept(make(), dialect)
        if len(plans) > MOST_PLANS:
            plans.popitem(last=False)
    else:
        plans.move_to_end(form)
    return plan


def form_of(principal: Principal) -> Hashable:
    """The part of a principal that a statement depends on: which ids it has, not their values."""
    return tuple(principal.ids)


def with_places(principal: Principal) -> Principal:
    """The principal with places instead of its ids, for the conditions of a plan; `ids` has their values."""
    places: dict[str, Any] = {
        name.removeprefix("principal_"): bindparam(name, type_=_IDS if isinstance(id, tuple) else _ID)
        for name, id in principal.ids.items()
    }
    return replace(principal, **places)
