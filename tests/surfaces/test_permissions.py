"""Who may do what, for every operation: its own workspace, another one, the wrong credential, none."""

import json
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from sqlalchemy import Uuid, or_, select

from gateway.web.kit.cookies import SESSION
from oauth.principals import PrincipalKind
from resolvers.credentials.browser_sessions import start_browser_session
from rest_compat.api import operation_routes
from storage.tables.registry import METADATA
from tests.support.examples import EXAMPLES, IN_A_BROWSER, OWN, PERSONAL
from tests.support.gateways import make_tenant, make_token
from tests.support.surfaces import Refused, Rest, Surface
from tests.support.world import make_world

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
# Answers in which no id stands.
WITHOUT_IDS = {
    "get_file_download",
    "get_metrics",
    "get_metrics_limits",
    "get_second_factors",
    "list_event_names",
    "list_usage",
}
CLOSED = [name for name in OPERATIONS if name not in PUBLIC]


async def build(gateway: Any) -> Any:
    tenant = await make_tenant(gateway)
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    user = Rest(gateway.client, gateway.app, tenant.personal_token)
    return tenant, await make_world(workspace, user, tenant)


@pytest_asyncio.fixture(scope="session")
async def built(gateway):
    """A tenant with one of each resource, which no test here may manage to change."""
    return await build(gateway)


async def caller_for(caller: Any, gateway: Any, tenant: Any, name: str, customer_token: str) -> Surface:
    """A caller with the tenant's credential of the kind that the operation takes."""
    if name in IN_A_BROWSER:
        async with gateway.database.write() as connection:
            session = await start_browser_session(
                connection, UUID(tenant.user_id), "address:192.0.2.1", "A browser"
            )
        return caller(None).with_headers(cookie=f"{SESSION}={session.text}", sec_fetch_site="same-origin")
    if name in PORTAL:
        return caller(customer_token)
    return caller(tenant.personal_token if name in PERSONAL else tenant.token)


async def make_customer_token(gateway: Any, tenant: Any) -> str:
    """A session of a new team customer of the tenant."""
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    team = await workspace.create_customer(data={"email": "other@example.com", "type": "team"})
    return str((await workspace.create_customer_session(data={"customer_id": team["id"]}))["token"])


async def rows_of(gateway: Any, tenant: Any) -> str:
    """Everything that is kept for the tenant, but for the moments its tokens were used and `LATER`."""
    found: dict[str, Any] = {}
    async with gateway.database.read() as connection:
        for table in METADATA.sorted_tables:
            owner = table.c.get("workspace_id", table.c.id if table.name == "workspaces" else None)
            if owner is not None and table.name not in LATER:
                rows = await connection.execute(select(table).where(owner == UUID(tenant.id)))
                found[table.name] = sorted(str(dict(row) | {"last_used_at": None}) for row in rows.mappings())
    return json.dumps(found)


async def rows_about(gateway: Any, ids: set[str]) -> dict[str, list[str]]:
    """The rows with one of these ids in any column, but for the moments tokens were used and `LATER`."""
    uuids = [UUID(id) for id in ids if len(id) == 36]
    rows = {}
    async with gateway.database.read() as connection:
        for table in METADATA.sorted_tables:
            columns = [column for column in table.c if isinstance(column.type, Uuid)]
            if columns and table.name not in LATER:
                named = or_(*(column.in_(uuids) for column in columns))
                answer = (await connection.execute(select(table).where(named))).mappings()
                rows[table.name] = sorted(str(dict(row) | {"last_used_at": None}) for row in answer)
    return rows


def test_every_operation_has_an_example():
    assert set(operation_routes()) == set(EXAMPLES)


@pytest.mark.parametrize("name", CLOSED)
async def test_everything_can_be_done_with_ones_own(name, gateway, caller):
    tenant, world = await build(gateway)
    own = await caller_for(caller, gateway, tenant, name, world.customer_token)
    ids = world.ids | {tenant.user_id}
    before = await rows_about(gateway, ids)
    answer = await own.ask(name, EXAMPLES[name](world))
    if operation_routes()[name].operation.changes:
        assert await rows_about(gateway, ids) != before
    elif name in WITHOUT_IDS:
        assert answer.value
    else:
        assert ids & set(json.dumps(answer.value).split('"'))


@pytest.mark.parametrize("name", CLOSED)
async def test_another_workspace_reaches_nothing_and_changes_nothing(
    name, built, gateway, caller, other_tenant
):
    tenant, world = built
    before = await rows_of(gateway, tenant)
    customer_token = await make_customer_token(gateway, other_tenant)
    outsider = await caller_for(caller, gateway, other_tenant, name, customer_token)
    if name in OWN or (name.startswith("list_") and "workspace_id" not in EXAMPLES[name](world)):
        answer = await outsider.ask(name, EXAMPLES[name](world))
        assert not world.ids & set(json.dumps(answer.value).split('"'))
    else:
        with pytest.raises(Refused) as refused:
            await outsider.ask(name, EXAMPLES[name](world))
        # An id in a body is 422 with its place; in a path or a filter it does not exist.
        assert refused.value.status in ((404, 422) if name.startswith("create_") else (404,))
    assert await rows_of(gateway, tenant) == before


@pytest.mark.parametrize("name", CLOSED)
async def test_without_a_credential_nothing_is_done(name, built, gateway, caller):
    tenant, world = built
    before = await rows_of(gateway, tenant)
    with pytest.raises(Refused) as refused:
        await caller(None).ask(name, EXAMPLES[name](world))
    assert (refused.value.status, refused.value.code) == (401, "unauthorized")
    assert await rows_of(gateway, tenant) == before


@pytest.mark.parametrize("name", [name for name in CLOSED if name not in PORTAL | {"get_viewer"}])
async def test_a_customer_reaches_nothing_of_the_core(name, built, caller):
    _, world = built
    with pytest.raises(Refused) as refused:
        await caller(world.customer_token).ask(name, EXAMPLES[name](world))
    assert (refused.value.status, refused.value.code) == (403, "not_permitted")


@pytest.mark.parametrize("name", [name for name in CLOSED if name != "get_viewer"])
async def test_a_token_without_the_scope_gets_the_name_of_the_missing_one(name, built, gateway, caller):
    tenant, world = built
    operation = operation_routes()[name].operation
    token = await make_token(gateway, tenant)
    with pytest.raises(Refused) as refused:
        await caller(token).ask(name, EXAMPLES[name](world))
    assert refused.value.status == 403
    if refused.value.code == "insufficient_scope":
        assert operation.sufficient_scopes
        assert all(scope in refused.value.detail for scope in operation.sufficient_scopes)
    else:
        assert name in PERSONAL | PORTAL | IN_A_BROWSER
