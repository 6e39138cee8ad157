"""Plans: kept statements by the form of what was asked, so that each form is built and compiled once.

A plan never contains a value of a request: callers, filters and places are parameters (`bindparam`).
"""

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from sqlalchemy import Executable, Uuid, bindparam

from oauth.principals import Principal
from resolvers.operations.context import Context
from storage.caches import Cache
from storage.dialects.matching import ListOf
from storage.engine.kept_statements import Kept
from storage.engine.payers import making
from storage.types import CurrentMoment

# Measured with tracemalloc, with the text and its conversions: 5 KB for a list, 9.4 KB for one whose links
# make a text of 4.2 KB.
BYTES_OF_PLANS = 12 * 1024 * 1024
BYTES_OF_A_PLAN, BYTES_OF_A_LETTER = 3_000, 2
_ID, _IDS = Uuid(), ListOf(Uuid())
# For conditions that end with time.
MOMENT = bindparam("moment", type_=CurrentMoment())

# By the name of the dialect and the form.
_plans: defaultdict[str, Cache[Hashable, Kept]] = defaultdict(lambda: Cache(BYTES_OF_PLANS))


def plan_for(ctx: Context, form: Hashable, make: Callable[[], Executable]) -> Kept:
    """The plan of this form, made at its first use, for which the caller pays; those used least recently are
    forgotten.
    """
    dialect = ctx.services.database.dialect
    plans = _plans[dialect.name]
    plan = plans.get(form)
    if plan is None:
        with making(ctx.caller.payer):
            plan = Kept(make(), dialect)
        plans.keep(form, plan, BYTES_OF_A_PLAN + BYTES_OF_A_LETTER * len(plan.on(dialect).text))
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
