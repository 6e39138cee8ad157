"""Who may do what, for every operation: its own workspace, another one, the wrong credential, none."""

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest_asyncio
from sqlalchemy import Uuid, or_, select

from oauth.principals import PrincipalKind
from rest_compat.api import operation_routes
from storage.tables.registry import METADATA
from tests.support.callers.examples import ELSEWHERE, EXAMPLES, IN_A_BROWSER, OWN, PERSONAL
from tests.support.callers.surfaces import Answer, Refused, Surface
from tests.support.callers.world import World, check_each, make_customer_token, world_of
from tests.support.servers.gateways import Gateway, Tenant, make_tenant, make_token, start_session

OPERATIONS = sorted(EXAMPLES)
PUBLIC = {name for name, route in operation_routes().items() if route.operation.why_public}
PORTAL = {
    name
    for name, route in operation_routes().items()
    if route.operation.kinds == {PrincipalKind.CUSTOMER_SESSION}
}
# What background tasks make of other rows, at a time of their own.
LATER = {
    "mails",
    "event_counts",
    "event_deltas",
    "event_names",
    "list_total_deltas",
    "list_totals",
    "metric_deltas",
    "metric_activity_cells",
    "metric_money_cells",
    "metric_person_cells",
    "metric_packs",
    "metric_share_packs",
    "person_merge_deltas",
    "usage_counts",
    "workspace_locks",
}
# What the use of a token writes, and the number that a background task gives a change.
_UNSTEADY = {"last_used_at": None, "position": None}
# Answers in which no id stands.
WITHOUT_IDS = {
    "get_latest_change",
    "get_file_download",
    "get_metrics",
    "get_metrics_limits",
    "get_second_factors",
    "list_event_names",
    "list_usage",
}
CLOSED = [name for name in OPERATIONS if name not in PUBLIC]
CHANGES = [name for name in CLOSED if operation_routes()[name].operation.changes]
READS = [name for name in CLOSED if name not in CHANGES]
# What others change is compared with the log in tests/changes/test_every_operation.py.
UNLOGGED = [name for name in CHANGES if not operation_routes()[name].operation.causes or name in ELSEWHERE]
# What it sends is kept by the receiver.
CHANGES_NO_ROW = {"test_webhook_endpoint"}


@dataclass(frozen=True)
class Target:
    """A tenant with one of each resource, and a token of it that has no scope."""

    tenant: Tenant
    world: World
    bare_token: str


FaultOf = Callable[[str, Target], Awaitable[str | None]]


async def build(gateway: Gateway) -> Target:
    tenant = await make_tenant(gateway)
    return Target(tenant, await world_of(gateway, tenant), await make_token(gateway, tenant))


@pytest_asyncio.fixture(scope="session")
async def target(gateway):
    """What no test here may manage to change."""
    return await build(gateway)


async def caller_for(caller: Any, gateway: Any, tenant: Any, name: str, customer_token: str) -> Surface:
    """A caller with the tenant's credential of the kind that the operation takes."""
    if name in IN_A_BROWSER:
        return caller(None).in_browser(await start_session(gateway, tenant.user_id))
    if name in PORTAL:
        return caller(customer_token)
    return caller(tenant.personal_token if name in PERSONAL else tenant.token)


async def rows_of(gateway: Any, tenant: Any) -> str:
    """Everything that is kept for the tenant, but for `_UNSTEADY` and `LATER`."""
    found: dict[str, Any] = {}
    async with gateway.database.read() as connection:
        for table in METADATA.sorted_tables:
            owner = table.c.get("workspace_id", table.c.id if table.name == "workspaces" else None)
            if owner is not None and table.name not in LATER:
                rows = await connection.execute(select(table).where(owner == UUID(tenant.id)))
                found[table.name] = sorted(str(dict(row) | _UNSTEADY) for row in rows.mappings())
    return json.dumps(found)


async def rows_about(gateway: Any, ids: set[str]) -> dict[str, list[str]]:
    """The rows with one of these ids in any column, but for `_UNSTEADY` and `LATER`."""
    uuids = [UUID(id) for id in ids if len(id) == 36]
    rows = {}
    async with gateway.database.read() as connection:
        for table in METADATA.sorted_tables:
            columns = [column for column in table.c if isinstance(column.type, Uuid)]
            if columns and table.name not in LATER:
                named = or_(*(column.in_(uuids) for column in columns))
                answer = (await connection.execute(select(table).where(named))).mappings()
                rows[table.name] = sorted(str(dict(row) | _UNSTEADY) for row in answer)
    return rows


def test_every_operation_has_an_example():
    assert set(operation_routes()) == set(EXAMPLES)


async def test_everything_can_be_changed_with_ones_own(gateway, caller):
    async def check(name: str, target: Target) -> None:
        tenant, world = target.tenant, target.world
        own = await caller_for(caller, gateway, tenant, name, world.customer_token)
        ids = world.ids | {tenant.user_id}
        before = await rows_about(gateway, ids)
        await own.ask(name, EXAMPLES[name](world))
        assert (await rows_about(gateway, ids) == before) == (name in CHANGES_NO_ROW)

    await check_each(UNLOGGED, lambda: build(gateway), check)


async def test_everything_can_be_read_with_ones_own(target, gateway, caller):
    tenant, world = target.tenant, target.world
    ids = world.ids | {tenant.user_id}
    unread = []
    for name in READS:
        own = await caller_for(caller, gateway, tenant, name, world.customer_token)
        answer = await outcome_of(own, name, world)
        if not answer.value or (name not in WITHOUT_IDS and not ids & ids_in(answer.value)):
            unread.append(f"{name}: {answer.value}")
    assert not unread, "\n".join(unread)


async def test_another_workspace_reaches_nothing_and_changes_nothing(target, gateway, caller):
    others: list[tuple[Tenant, str]] = []

    async def fault_of(name: str, target: Target) -> str | None:
        if not others:
            tenant = await make_tenant(gateway)
            others.append((tenant, await make_customer_token(gateway, tenant)))
        (other_tenant, customer_token), *_ = others
        outsider = await caller_for(caller, gateway, other_tenant, name, customer_token)
        outcome = await outcome_of(outsider, name, target.world)
        if name in CHANGES and isinstance(outcome, Answer):
            # It may have changed or ended itself.
            others.clear()
        if name in OWN or (name.startswith("list_") and "workspace_id" not in EXAMPLES[name](target.world)):
            is_right = isinstance(outcome, Answer) and not target.world.ids & ids_in(outcome.value)
        else:
            # An id in a body is 422 with its place; in a path or a filter it does not exist.
            statuses = (404, 422) if name.startswith("create_") else (404,)
            is_right = isinstance(outcome, Refused) and outcome.status in statuses
        return None if is_right else f"{outcome!r} to a credential of another workspace"

    await assert_without_fault(CLOSED, fault_of, target, gateway)


async def test_without_a_credential_nothing_is_done(target, gateway, caller):
    async def fault_of(name: str, target: Target) -> str | None:
        outcome = await outcome_of(caller(None), name, target.world)
        is_right = is_refused(outcome, 401, "unauthorized")
        return None if is_right else f"{outcome!r} without a credential"

    await assert_without_fault(CLOSED, fault_of, target, gateway)


async def test_a_customer_reaches_nothing_of_the_core(target, gateway, caller):
    async def fault_of(name: str, target: Target) -> str | None:
        outcome = await outcome_of(caller(target.world.customer_token), name, target.world)
        is_right = is_refused(outcome, 403, "not_permitted")
        return None if is_right else f"{outcome!r} to a customer's session"

    names = [name for name in CLOSED if name not in PORTAL | {"get_viewer"}]
    await assert_without_fault(names, fault_of, target, gateway)


async def test_a_token_without_the_scope_gets_the_name_of_the_missing_one(target, gateway, caller):
    async def fault_of(name: str, target: Target) -> str | None:
        scopes = operation_routes()[name].operation.sufficient_scopes
        outcome = await outcome_of(caller(target.bare_token), name, target.world)
        if is_refused(outcome, 403, "insufficient_scope"):
            is_right = bool(scopes) and all(scope in outcome.detail for scope in scopes)
        else:
            is_right = is_refused(outcome, 403) and name in PERSONAL | PORTAL | IN_A_BROWSER
        return None if is_right else f"{outcome!r} to a token without scopes"

    await assert_without_fault([name for name in CLOSED if name != "get_viewer"], fault_of, target, gateway)


async def outcome_of(surface: Surface, name: str, world: World) -> Answer | Refused:
    try:
        return await surface.ask(name, EXAMPLES[name](world))
    except Refused as refused:
        return refused


def is_refused(outcome: Answer | Refused, status: int, code: str | None = None) -> bool:
    return isinstance(outcome, Refused) and outcome.status == status and code in (None, outcome.code)


def ids_in(value: Any) -> set[str]:
    return set(json.dumps(value).split('"'))


async def assert_without_fault(
    names: Iterable[str], fault_of: FaultOf, target: Target, gateway: Gateway
) -> None:
    """Try each operation on the target: `fault_of` says what is wrong with its answer.

    The target's rows are looked at before the first and after the last. If they differ, each operation is
    tried again, alone, on a target that none has touched, to tell which of them it was.
    """
    before = await rows_of(gateway, target.tenant)
    faults = [f"{name}: {fault}" for name in names if (fault := await fault_of(name, target))]
    if await rows_of(gateway, target.tenant) != before:
        changing = [name for name in names if await changes_rows(name, fault_of, gateway)]
        faults.append(f"changed rows: {', '.join(changing) or 'no operation alone'}")
    assert not faults, "\n".join(faults)


async def changes_rows(name: str, fault_of: FaultOf, gateway: Gateway) -> bool:
    target = await build(gateway)
    before = await rows_of(gateway, target.tenant)
    await fault_of(name, target)
    return await rows_of(gateway, target.tenant) != before
