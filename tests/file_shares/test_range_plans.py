"""A range of dates bounds what a list reads: the other filters look at the rows of the range, not at all."""

import re

import pytest

from tests.support.statements.plans import plan_of
from tests.support.statements.statements import noted

RANGE = {"start_date": "2026-01-10", "end_date": "2026-01-20"}
EUROS = {"currency": ["eur"]}
ID = "6f4e1f3a-8a53-4b8e-9f0c-0d7a3a6b1c2d"


def metric(name):
    return {"metric": f"file_share_{name}"}


BOUNDED = [
    ("list_file_share_sessions", EUROS, "created_at"),
    ("list_file_share_sessions", {**EUROS, "share_id": [ID]}, "created_at"),
    ("list_file_share_sessions", {**EUROS, "customer_id": [ID]}, "created_at"),
    ("list_file_share_sessions", {"status": ["completed"]}, "created_at"),
    ("list_file_share_sessions", metric("sessions"), "created_at"),
    ("list_file_share_sessions", metric("free_sessions"), "created_at"),
    ("list_file_share_sessions", metric("paid_sessions"), "created_at"),
    ("list_file_share_payments", EUROS, "at"),
    ("list_file_share_payments", {**EUROS, "share_id": [ID]}, "at"),
    ("list_file_share_refunds", EUROS, "at"),
    ("list_events", EUROS, "timestamp"),
]
BOUNDED_BY_ANOTHER_MOMENT = [
    ("list_file_share_sessions", metric("completed_sessions"), "ended_at"),
    ("list_file_share_sessions", metric("expired_sessions"), "ended_at"),
]


async def plan_of_list(gateway, rest, name, filters):
    """The steps of the plan of the list's only statement, whatever the values."""
    with noted(gateway.database) as statements:
        await getattr(rest, name)(**filters)
    return await plan_of(gateway.database, statements[-1])


def searches(plan, name):
    """The steps of SQLite's plan that search the list's own table: for the total and for the page."""
    return [step for step in plan if step.startswith(f"SEARCH {name.removeprefix('list_')} ")]


@pytest.mark.parametrize(("name", "filters", "moment"), BOUNDED, ids=str)
async def test_a_range_bounds_the_rows_that_are_looked_at(gateway, rest, name, filters, moment):
    plan = await plan_of_list(gateway, rest, name, {**filters, **RANGE})
    if gateway.database.is_sqlite:
        steps = searches(plan, name)
        assert len(steps) == 2
        assert all(f"{moment}>? AND {moment}<?)" in step for step in steps), plan
    else:
        # With so few rows any index will do for the total.
        bounds = re.compile(rf'Index Cond: .*{moment}"? >= \$\d+\) AND \("?{moment}"? < \$\d+\)')
        assert any(bounds.search(step) for step in plan), plan


@pytest.mark.parametrize(("name", "filters", "moment"), BOUNDED_BY_ANOTHER_MOMENT, ids=str)
async def test_a_range_bounds_what_another_moment_decides(gateway, rest, name, filters, moment):
    plan = await plan_of_list(gateway, rest, name, {**filters, **RANGE})
    if gateway.database.is_sqlite:
        steps = searches(plan, name)
        assert len(steps) == 2
        assert all(f"{moment}>? AND {moment}<?)" in step for step in steps), plan
    else:
        # It estimates by statistics which is less: to sort these, or to walk in the order of the list.
        assert any(re.search(r"Index Cond: .*\(created_at < \$\d+\)", step) for step in plan), plan


async def test_what_began_after_the_range_is_not_looked_at_for_what_is_active_at_its_end(gateway, rest):
    name = "list_file_share_sessions"
    plan = await plan_of_list(gateway, rest, name, {**metric("active_sessions"), **RANGE})
    if gateway.database.is_sqlite:
        assert all("created_at<?)" in step for step in searches(plan, name)), plan
    else:
        assert any(re.search(r"Index Cond: .*\(created_at < \$\d+\)", step) for step in plan), plan
