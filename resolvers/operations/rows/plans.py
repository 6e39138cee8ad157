"""What kept plans (`storage/engine/plans.py`) depend on of a caller, and its places in them."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from sqlalchemy import Executable, Uuid, bindparam

from oauth.principals import Principal
from resolvers.operations.context import Context
from storage.dialects.matching import ListOf
from storage.engine import plans
from storage.engine.statements.kept import Kept
from storage.types import CurrentMoment

_ID, _IDS = Uuid(), ListOf(Uuid())
# For conditions that end with time.
MOMENT = bindparam("moment", type_=CurrentMoment())


def plan_for(ctx: Context, form: Hashable, make: Callable[[], Executable]) -> Kept:
    """The plan of this form. The caller pays for its making, at its first use."""
    return plans.plan_for(ctx.services.database.dialect, form, make, ctx.caller.payer)


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
