"""Each operation over both surfaces: the log says what changed in the tables, and nothing else."""

from uuid import UUID, uuid4

import pytest

from oauth.scopes import Scope
from resolvers.operations.declaration import operation_of, requires
from rest_compat.api import operation_routes
from storage.changes.kinds import ChangeKind
from storage.changes.log import Actor, UndeclaredChange, log_of
from storage.enums import ActorKind
from storage.rows.rows import insert_row
from storage.tables.shares.shares import ShareRow
from tests.changes.differences import happened, rows_of
from tests.changes.following import changes_after, newest
from tests.support.callers.examples import ELSEWHERE, EXAMPLES, IN_A_BROWSER, PERSONAL
from tests.support.callers.surfaces import Rest
from tests.support.callers.world import World, check_each, world_of
from tests.support.servers.gateways import Tenant, make_tenant, start_session
from tests.support.tenants.membership import make_user

OPERATIONS = {name: route.operation for name, route in operation_routes().items()}
CHANGES = sorted(name for name, operation in OPERATIONS.items() if operation.changes)
# One test of all would keep its worker long after the others.
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
async def test_the_log_says_what_an_operation_changed(caller, gateway, part):
    async def make() -> tuple[Tenant, World]:
        tenant = await make_tenant(gateway)
        return tenant, await world_of(gateway, tenant)

    async def check(name: str, made: tuple[Tenant, World]) -> None:
        tenant, world = made
        surface = caller(tenant.personal_token if name in PERSONAL else tenant.token)
        if name in IN_A_BROWSER:
            surface = caller(None).in_browser(await start_session(gateway, tenant.user_id))
        if "portal" in name:
            surface = caller(world.customer_token)
        operation, home = OPERATIONS[name], UUID(tenant.id)
        rest = Rest(gateway.client, gateway.app, tenant.token)
        before, start = await rows_of(gateway.database, home), await newest(rest)
        await getattr(surface, name)(**EXAMPLES[name](world))
        told = await changes_after(rest, start)
        after = await rows_of(gateway.database, home)
        expected = happened(before, after)
        assert (before != after) == bool(operation.causes)
        if name.startswith("ingest_"):
            (change,) = told
            assert (change["kind"], change["data"]) == (operation.causes[0], {"count": 1})
            return
        assert {(change["kind"], UUID(change["resource_id"])) for change in told} == expected
        assert len(told) == len(expected)
        assert {change["kind"] for change in told} <= set(operation.causes)
        assert [change["position"] for change in told] == sorted(change["position"] for change in told)

    await check_each([name for name in CHANGES if name not in ELSEWHERE][part::PARTS], make, check)


async def test_joining_and_leaving_is_logged_where_it_happens(caller, gateway, tenant):
    owner, user = caller(tenant.personal_token), await make_user(gateway)
    guest, start = caller(user.token), await newest(owner)
    for act in (guest.decline_workspace_invitation, guest.accept_workspace_invitation):
        invited = await owner.invite_workspace_member(data={"email": user.email, "workspace_id": tenant.id})
        await act(id=invited["id"])
    told = await changes_after(owner, start)
    assert [change["kind"].partition(".")[2] for change in told] == [
        *("invited", "removed", "invited", "joined")
    ]
    assert [change["actor"]["id"] for change in told] == [tenant.user_id, user.id] * 2


async def test_a_new_workspace_begins_with_its_founder(caller, tenant):
    user = caller(tenant.personal_token)
    made = await user.create_workspace(data={"name": "Another", "slug": f"w-{uuid4().hex}"})
    (joined,) = await changes_after(user, None, workspace_id=made["id"])
    assert (joined["kind"], joined["actor"]["kind"]) == ("workspace_member.joined", "user")
    assert joined["actor"]["id"] == tenant.user_id


def test_each_kind_is_caused_by_an_operation_a_command_or_time():
    declared = {kind for operation in OPERATIONS.values() for kind in operation.causes or ()}
    # An operator changes the status, and those who scan for secrets report leaks.
    others = {ChangeKind.WORKSPACE_STATUS_CHANGED, ChangeKind.WORKSPACE_ACCESS_TOKEN_LEAKED}
    assert set(ChangeKind) - declared == others


def test_a_change_that_declares_no_kinds_cannot_be_published():
    async def forget(ctx): ...

    with pytest.raises(TypeError, match="does not declare which changes it `causes`"):
        requires(Scope.SHARES_WRITE)(forget)
    assert operation_of(requires(Scope.SHARES_WRITE, causes=())(forget)).causes == ()


async def test_a_change_of_another_kind_than_declared_is_refused(gateway, tenant):
    async with gateway.database.write() as connection:
        log_of(connection).declare(Actor(ActorKind.SYSTEM), (ChangeKind.SHARE_UPDATED,))
        values = {"workspace_id": UUID(tenant.id), "name": "A share"}
        with pytest.raises(UndeclaredChange, match=r"share\.created"):
            await insert_row(connection, ShareRow, **values)
