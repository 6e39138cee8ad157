"""The deletion of a workspace: what ends at once, and that nothing is left afterwards."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import or_, select

from resolvers.workspaces import removal
from resolvers.workspaces.removal import remove_deleted_workspaces
from storage.clock import now
from storage.objects.interface import ObjectMissing
from storage.rows.rows import insert_row, one, table_of
from storage.tables.idempotency_keys import IdempotencyKeyRow
from storage.tables.registry import METADATA
from storage.tables.shares.shares import ShareRow
from storage.tables.workspaces.workspaces import WorkspaceRow
from storage.workspaces.removal import OWNER, WAYS, remove_rows
from tests.files.test_clean_up import remove_all_discarded
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Refused, Rest
from tests.support.callers.world import world_of
from tests.support.mails.mailed import mails_to
from tests.support.tenants.applications import make_application
from tests.support.tenants.membership import make_member, make_user

_workspaces, _keys = table_of(WorkspaceRow), table_of(IdempotencyKeyRow)
LATER = timedelta(hours=2)
# Filled by commands and tasks of their own, or only for a moment.
EMPTY = {
    "discarded_objects",
    "event_deltas",
    "list_total_deltas",
    "mails",
    "metric_activity_cells",
    "metric_deltas",
    "metric_money_cells",
    "metric_packs",
    "metric_person_cells",
    "metric_share_packs",
    "person_merge_deltas",
    "person_merges",
    "webhook_attempts",
    "webhook_deliveries",
    "workspace_locks",
    "portal_codes",
    "usage_counts",
    "event_counts",
    "event_names",
    "list_totals",
}


@pytest.fixture
def services(gateway):
    return gateway.app.state.services


async def build(gateway, tenant):
    """One of each resource, with events that refer to each other, grants and answers kept for retries."""
    workspace = Rest(gateway.client, gateway.app, tenant.token)
    world = await world_of(gateway, tenant)
    events = [{"name": "a", "external_id": "0", "external_customer_id": "stranger"}]
    events += [{"name": "a", "external_id": f"{n + 1}", "parent_id": f"{n}"} for n in range(12)]
    await workspace.ingest_events(data={"events": events})
    await workspace.with_headers(idempotency_key=uuid4().hex).create_customer(data={"email": "a@example.com"})
    application = await make_application(gateway, owner=UUID(tenant.id))
    tokens = await application.tokens(tenant)
    return world, application, tokens


async def rows_of(gateway, workspace_id):
    """How many rows each table has that belong to the workspace, by any way that tables refer to it."""
    found = {}
    async with gateway.database.snapshot() as connection:
        for table, ways in WAYS.items():
            some = select(*table.primary_key.columns).where(or_(*ways))
            rows = (await connection.execute(some, {"own_workspace_id": UUID(workspace_id)})).all()
            found[table.name] = len(rows)
        kept = select(_keys).where(_keys.c.subject == f"workspace:{workspace_id}")
        found["idempotency_keys"] = len((await connection.execute(kept)).all())
    return found


async def steady_rows_of(gateway, workspace_id):
    """The same without what background tasks change."""
    return {name: many for name, many in (await rows_of(gateway, workspace_id)).items() if name not in EMPTY}


async def remove(gateway, tenant, at=None):
    """Do the background work until nothing of the workspace is due."""
    own = _workspaces.c.id == UUID(tenant.id)
    while True:
        async with gateway.database.read() as connection:
            row = await one(connection, WorkspaceRow, own)
        if row.removal_due_at is None or row.removal_due_at > (at or now()):
            return row
        await remove_deleted_workspaces(gateway.app.state.services, at)


async def finish(gateway, tenant):
    """The same, and again after an hour, when what requests in progress have written is removed too."""
    await remove(gateway, tenant)
    await remove_all_discarded(gateway.app.state.services)
    return await remove(gateway, tenant, now() + LATER)


async def test_without_a_workspace_that_is_due_there_is_no_more_to_remove(services):
    assert await remove_deleted_workspaces(services, datetime(2020, 1, 1, tzinfo=UTC)) is False


async def test_a_removal_that_fails_lets_the_next_workspace_be_removed(
    gateway, tenant, other_tenant, monkeypatch
):
    remove_all, failed = removal._remove_all, []

    async def fail_for_the_first(services, workspace_id):
        if workspace_id == UUID(tenant.id):
            failed.append(workspace_id)
            raise ValueError("broken")
        return await remove_all(services, workspace_id)

    monkeypatch.setattr(removal, "_remove_all", fail_for_the_first)
    for each in (tenant, other_tenant):
        await Rest(gateway.client, gateway.app, each.personal_token).delete_workspace(id=each.id)
    # The gateway's own task may come to it first.
    with suppress(ValueError):
        await remove(gateway, tenant)
    assert failed
    assert (await remove(gateway, tenant)).removal_due_at > now()
    assert (await remove(gateway, other_tenant)).removal_due_at > now()
    monkeypatch.undo()
    assert (await finish(gateway, tenant)).removal_due_at is None


def test_every_table_of_workspaces_is_covered_and_comes_after_what_refers_to_it():
    """Of a new table too: the order and the conditions follow from its columns and keys."""
    tables = list(WAYS)
    assert {table for table in METADATA.sorted_tables if OWNER in table.c} <= set(tables)
    for table in METADATA.sorted_tables:
        for key in table.foreign_key_constraints:
            if key.referred_table in WAYS and key.referred_table is not table:
                assert tables.index(table) < tables.index(key.referred_table)


async def test_nothing_of_a_deleted_workspace_is_left(gateway, tenant, other_tenant, services, owner):
    world, *_ = await build(gateway, tenant)
    await build(gateway, other_tenant)
    file = await owner.get_file(id=world.media)
    before = await rows_of(gateway, tenant.id)
    assert {name for name, many in before.items() if not many} <= EMPTY
    others = await steady_rows_of(gateway, other_tenant.id)
    assert await owner.delete_workspace(id=tenant.id) == tenant.id
    row = await finish(gateway, tenant)
    assert {name: many for name, many in (await rows_of(gateway, tenant.id)).items() if many} == {}
    with pytest.raises(ObjectMissing):
        await services.objects.open_object(file["path"])
    assert (row.slug, row.name, row.email, row.feature_settings) == (tenant.slug, "", None, {})
    kept = {
        name: many for name, many in (await rows_of(gateway, other_tenant.id)).items() if name not in EMPTY
    }
    assert kept == {name: many for name, many in others.items() if name not in EMPTY}


async def test_rows_written_by_requests_in_progress_are_removed_an_hour_later(gateway, tenant, owner):
    await owner.delete_workspace(id=tenant.id)
    assert (await remove(gateway, tenant)).removal_due_at is not None
    async with gateway.database.write() as connection:
        await insert_row(connection, ShareRow, workspace_id=UUID(tenant.id), name="Late")
    assert (await remove(gateway, tenant, now() + LATER)).removal_due_at is None
    assert not any((await rows_of(gateway, tenant.id)).values())


async def test_a_removal_goes_on_after_an_interruption_and_several_do_it_together(
    gateway, tenant, services, owner, monkeypatch
):
    for name in ("MOST_ROWS", "MOST_ROWS_ON_SQLITE", "MOST_FILES"):
        monkeypatch.setattr(removal, name, 3)
    await build(gateway, tenant)
    await owner.delete_workspace(id=tenant.id)
    with monkeypatch.context() as patch:
        patch.setattr(removal, "remove_rows", dying_after(12))
        with pytest.raises(Died):
            await remove(gateway, tenant)
        assert any((await rows_of(gateway, tenant.id)).values())
    await asyncio.gather(*(remove(gateway, tenant) for _ in range(3)))
    await finish(gateway, tenant)
    assert not any((await rows_of(gateway, tenant.id)).values())


class Died(BaseException):
    """The end of a process, between two transactions: nothing of it can react any more."""


def dying_after(batches):
    """Removes so many batches for the test; the gateway's own rounds go on."""
    left, task = iter(range(batches)), asyncio.current_task()

    async def remove_rows_or_die(*arguments):
        if asyncio.current_task() is task and next(left, None) is None:
            raise Died
        return await remove_rows(*arguments)

    return remove_rows_or_die


async def status(gateway, token, path="/api/viewer"):
    return (await gateway.client.get(path, headers={"Authorization": f"Bearer {token}"})).status_code


async def test_all_that_reached_the_workspace_ends_at_once(gateway, tenant, other_tenant, owner):
    world, application, tokens = await build(gateway, tenant)
    elsewhere = await application.tokens(other_tenant)
    guest = await make_user(gateway)
    await owner.invite_workspace_member(data={"email": guest.email, "workspace_id": tenant.id})
    invited = owner.with_token(guest.token)
    assert len((await invited.list_workspace_invitations())["data"]) == 1
    used = [tenant.token, world.customer_token, tokens["access_token"], elsewhere["access_token"]]
    portal = "/api/customer-portal/customer-session/introspect"
    paths = ["/api/shares/", portal, "/api/shares/", "/api/shares/"]
    reached = [await status(gateway, *each) for each in zip(used, paths, strict=True)]
    assert 401 not in reached

    await owner.delete_workspace(id=tenant.id)
    assert [await status(gateway, *each) for each in zip(used, paths, strict=True)] == [401] * 4
    for refresh in (tokens["refresh_token"], elsewhere["refresh_token"]):
        assert (await application.refresh(refresh)).json()["error"] == "invalid_client"
    assert (await invited.list_workspace_invitations())["data"] == []
    assert (await owner.list_workspaces())["data"] == []
    for asked in (owner.get_workspace(id=tenant.id), owner.get_share(id=world.share)):
        await refused(asked, 404, "not_found")
    assert (await gateway.client.get(f"/{tenant.slug}/portal")).status_code == 404
    await refused(
        owner.with_token(None).request_portal_code(data={"email": "a@example.com", "slug": tenant.slug}),
        404,
        "not_found",
    )


async def test_the_slug_is_never_given_out_again(gateway, tenant, owner):
    await owner.delete_workspace(id=tenant.id)
    with pytest.raises(Refused, match="duplicate"):
        await owner.create_workspace(data={"name": "Another", "slug": tenant.slug})
    await finish(gateway, tenant)
    with pytest.raises(Refused, match="duplicate"):
        await owner.create_workspace(data={"name": "Another", "slug": tenant.slug})


async def test_owners_are_told_who_deleted_it(gateway, tenant, owner):
    second = await make_member(gateway, tenant, "owner")
    await owner.delete_workspace(id=tenant.id)
    for address in (tenant.user_email, second.email):
        *_, mail = await mails_to(gateway, address)
        assert mail.subject == "The workspace Acme was deleted"
        assert f"deleted by {tenant.user_email}" in mail.text


async def test_deletions_at_once_end_it_once(gateway, tenant, owner):
    second = await make_member(gateway, tenant, "owner")
    callers = [owner, owner.with_token(second.token), owner]
    outcomes = await asyncio.gather(
        *(caller.delete_workspace(id=tenant.id) for caller in callers), return_exceptions=True
    )
    assert outcomes.count(tenant.id) == 1
    assert {outcome.code for outcome in outcomes if outcome != tenant.id} == {"not_found"}
    subjects = [mail.subject for mail in await mails_to(gateway, second.email)]
    assert subjects.count("The workspace Acme was deleted") == 1


async def test_an_invitation_that_is_accepted_meanwhile_joins_nothing(gateway, tenant, owner):
    guest = await make_user(gateway)
    await owner.invite_workspace_member(data={"email": guest.email, "workspace_id": tenant.id})
    invited = owner.with_token(guest.token)
    (invitation,) = (await invited.list_workspace_invitations())["data"]
    await asyncio.gather(
        owner.delete_workspace(id=tenant.id),
        invited.accept_workspace_invitation(id=invitation["id"]),
        return_exceptions=True,
    )
    assert (await invited.list_workspaces())["data"] == []
