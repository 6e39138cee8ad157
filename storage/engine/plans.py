"""Plans: kept statements by the form of what was asked, so that each form is built and compiled once.

A plan never contains a value of a request: callers, filters and places are parameters (`bindparam`).
"""

from collections import defaultdict
from collections.abc import Callable, Hashable

from sqlalchemy import Executable
from sqlalchemy.engine import Dialect

from storage.caches import Cache
from storage.engine.lending.payers import Payer, making
from storage.engine.statements.kept import Kept

# Measured with tracemalloc, with the text and its conversions: 5 KB for a list, 9.4 KB for one whose links
# make a text of 4.2 KB.
BYTES_OF_PLANS = 12 * 1024 * 1024
BYTES_OF_A_PLAN, BYTES_OF_A_LETTER = 3_000, 2

# By the name of the dialect and the form.
_plans: defaultdict[str, Cache[Hashable, Kept]] = defaultdict(lambda: Cache(BYTES_OF_PLANS))


def plan_for(
    dialect: Dialect, form: Hashable, make: Callable[[], Executable | Kept], payer: Payer | None = None
) -> Kept:
    """The plan of this form, made at its first use, for which `payer` pays.

    Those used least recently are forgotten.
    """
    plans = _plans[dialect.name]
    plan = plans.get(form)
    if plan is None:
        with making(payer):
            made = make()
            plan = made if isinstance(made, Kept) else Kept(made, dialect)
        plans.keep(form, plan, BYTES_OF_A_PLAN + BYTES_OF_A_LETTER * len(plan.on(dialect).text))
    return plan
