"""The feed of changes: pages, filters, what it shows of a resource, and who may read what."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import update

from oauth.scopes import Scope
from storage.changes import reading
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.retention.deletion import delete_ended
from storage.retention.rules import RULES
from storage.tables.base import table_of
from storage.tables.changes import ChangeRow
from tests.changes.following import changes_after, newest
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.world import world_of
from tests.support.servers.gateways import make_token
from tests.support.statements.statements import noted
from tests.support.tenants.membership import join_too

FREE = [{"amount_type": "free"}]
_table = table_of(ChangeRow)


async def make_shares(surface, many):
    return [
        (await surface.create_share(data={"name": f"Share {number}", "prices": FREE}))["id"]
        for number in range(many)
    ]


async def test_a_page_continues_where_the_last_one_ended(surface):
    start = await newest(surface)
    ids = await make_shares(surface, 5)
    read, position = [], start
    for has_more in (True, True, False):
        page = await surface.get_changes(after=position, limit=2)
        read += [change["resource_id"] for change in page["data"]]
        position = page["meta"]["next_cursor"]
        assert page["meta"]["has_more"] is has_more
    assert read == ids
    assert position == await newest(surface)
    # The end of the log is a place to go on from.
    page = await surface.get_changes(after=position)
    assert page == {"data": [], "meta": {"next_cursor": position, "has_more": False}}
    await make_shares(surface, 1)
    assert len((await surface.get_changes(after=position))["data"]) == 1


async def test_without_after_the_feed_begins_with_the_oldest_change(surface):
    await make_shares(surface, 1)
    changes = await changes_after(surface, None, limit=1)
    assert [change["position"] for change in changes] == [
        f"{number:019}" for number in range(1, len(changes) + 1)
    ]
    assert changes[-1]["kind"] == "share.created"


async def test_data_is_the_resource_as_it_is_now(surface, tenant):
    start = await newest(surface)
    (id,) = await make_shares(surface, 1)
    await surface.update_share(id=id, data={"name": "Renamed"})
    field = await surface.create_custom_field(data={"type": "text", "slug": "size", "name": "Size"})
    await surface.delete_custom_field(id=field["id"])
    created, updated, made, deleted = await changes_after(surface, start)
    assert [change["kind"] for change in (created, updated)] == ["share.created", "share.updated"]
    assert created["data"] == updated["data"]
    assert updated["data"]["name"] == "Renamed"
    assert made["data"] is deleted["data"] is None
    assert deleted["resource_id"] == field["id"]
    assert {change["workspace_id"] for change in (created, deleted)} == {tenant.id}
    assert len({change["id"] for change in (created, updated, made, deleted)}) == 4


async def test_data_is_what_rest_reads(surface, rest, gateway, tenant):
    world = await world_of(gateway, tenant)
    data = {change["resource_id"]: change["data"] for change in await changes_after(surface, None)}
    assert data[world.share] == await rest.get_share(id=world.share)
    assert data[world.team] == await rest.get_customer(id=world.team)
    assert data[world.member] == await rest.get_member(id=world.member)
    assert data[world.custom_field] == await rest.get_custom_field(id=world.custom_field)
    assert data[world.file_share_session] == await rest.get_file_share_session(id=world.file_share_session)
    assert data[world.oauth_client] == await rest.get_oauth_client(id=world.oauth_client)
    assert data[world.workspace_token] == await rest.get_workspace_access_token(id=world.workspace_token)
    member = await rest.get_workspace_member(id=world.workspace_member)
    assert data[world.workspace_member] == member


async def test_filters_choose_kinds_and_a_resource(surface):
    start = await newest(surface)
    first, _ = await make_shares(surface, 2)
    await surface.delete_share(id=first)
    of_first = await changes_after(surface, start, resource_id=first)
    assert [change["kind"] for change in of_first] == ["share.created", "share.archived"]
    created = await changes_after(surface, start, kind=["share.created", "customer.created"])
    assert {change["kind"] for change in created} == {"share.created"}
    assert len(created) == 2


async def test_a_page_looks_through_so_much_of_the_log_and_no_more(surface, monkeypatch):
    monkeypatch.setattr(reading, "SPAN", 3)
    start = await newest(surface)
    await make_shares(surface, 7)
    customer = await surface.create_customer(data={"email": f"{uuid4().hex}@example.com"})
    page = await surface.get_changes(after=start, kind=["customer.created"])
    assert page["data"] == []
    assert page["meta"] == {"next_cursor": f"{int(start) + 3:019}", "has_more": True}
    (change,) = await changes_after(surface, start, kind=["customer.created"])
    assert change["resource_id"] == customer["id"]


async def test_kinds_that_a_credential_may_not_read_do_not_exist_for_it(surface, gateway, tenant):
    start = await newest(surface)
    await make_shares(surface, 1)
    await surface.create_customer(data={"email": f"{uuid4().hex}@example.com"})
    reader = surface.with_token(await make_token(gateway, tenant, Scope.SHARES_READ))
    changes = await changes_after(reader, start)
    assert [change["kind"] for change in changes] == ["share.created"]
    both = await changes_after(reader, start, kind=["customer.created", "share.created"])
    assert both == changes
    failure = await refused(reader.get_changes(kind=["customer.created"]), 403, "insufficient_scope")
    assert "`customers:read`" in failure.detail
    bare = surface.with_token(await make_token(gateway, tenant, Scope.METRICS_READ))
    for call in (bare.get_changes(), bare.get_latest_change()):
        await refused(call, 403, "insufficient_scope")


async def test_another_workspace_is_not_there(caller, tenant, other_tenant):
    reader = caller(tenant.token)
    for call in (reader.get_changes, reader.get_latest_change):
        await refused(call(workspace_id=other_tenant.id), 404, "not_found")


async def test_a_user_of_several_workspaces_names_one(caller, gateway, tenant, other_tenant):
    await join_too(gateway, tenant, other_tenant)
    user = caller(tenant.personal_token)
    assert await refusal(user.get_changes()) == {("workspace_id",): "missing"}
    (id,) = await make_shares(caller(other_tenant.token), 1)
    changes = await changes_after(user, None, workspace_id=other_tenant.id)
    assert id in {change["resource_id"] for change in changes}
    changes = await changes_after(user, None, workspace_id=tenant.id)
    assert id not in {change["resource_id"] for change in changes}


@pytest.mark.parametrize("after", ["", "1", "-000000000000000001", "9" * 20, "x" * 19])
async def test_what_is_no_position_is_refused(surface, after):
    assert list(await refusal(surface.get_changes(after=after))) == [("after",)]


async def test_the_changes_after_an_old_position_are_gone(surface, gateway, tenant):
    start = await newest(surface)
    await make_shares(surface, 3)
    end = await newest(surface)
    await keep_days(gateway, tenant, before=int(start) + 2, days=31)
    failure = await refused(surface.get_changes(after=start), 410, "gone")
    assert "Read the lists again" in failure.detail
    assert f"`after={end}`" in failure.detail
    kept = f"{int(start) + 2:019}"
    assert [change["position"] for change in await changes_after(surface, kept)] == [end]
    assert [change["position"] for change in await changes_after(surface, None)] == [end]
    # Nor can a log that was restored from a backup tell what followed a position beyond its end.
    await refused(surface.get_changes(after="0" + "9" * 18), 410, "gone")


async def test_the_newest_change_stays_so_that_numbers_go_on(surface, gateway, tenant):
    await make_shares(surface, 1)
    end = await newest(surface)
    await keep_days(gateway, tenant, before=int(end), days=3000)
    assert await newest(surface) == end
    await make_shares(surface, 1)
    assert int(await newest(surface)) == int(end) + 1


async def keep_days(gateway, tenant, before, days):
    """Make the changes up to a position so old, and delete what is over."""
    old = (_table.c.workspace_id == UUID(tenant.id)) & (_table.c.position <= before)
    async with gateway.database.write() as connection:
        await connection.execute(update(_table).where(old).values(at=now() - timedelta(days=days)))
    while await delete_ended(gateway.database, RULES):
        pass


async def test_who_made_a_change(surface, caller, gateway, tenant):
    world = await world_of(gateway, tenant)
    start = await newest(surface)
    await make_shares(surface, 1)
    await caller(tenant.personal_token).update_share(id=world.share, data={"name": "By the user"})
    await caller(world.customer_token).update_portal_customer(data={"name": "By the customer"})
    token, user, customer = [change["actor"] for change in await changes_after(surface, start)]
    assert (token["kind"], user["kind"], customer["kind"]) == ("workspace_token", "user", "customer")
    assert (user["id"], user["name"]) == (tenant.user_id, "Ada")
    assert (customer["id"], customer["name"]) == (world.team, "By the customer")
    reader = surface.with_token(await make_token(gateway, tenant, Scope.MEMBERS_READ))
    assert {change["actor"]["name"] for change in await changes_after(reader, None)} <= {None, "Ada"}


async def test_a_repeated_call_and_one_that_changes_nothing_are_no_changes(surface, gateway, tenant):
    start = await newest(surface)
    keyed = surface.with_headers(**{"Idempotency-Key": uuid4().hex})
    data = {"name": "Once", "prices": FREE}
    share = await keyed.create_share(data=data)
    assert (await keyed.create_share(data=data))["id"] == share["id"]
    await surface.update_share(id=share["id"], data={"name": "Once"})
    assert await refusal(surface.update_share(id=share["id"], data={"name": "x"}))
    batch = {"events": [{"name": "a", "external_customer_id": "c", "external_id": uuid4().hex}]}
    for _ in range(2):
        await surface.ingest_events(data=batch)
    told = [(change["kind"], change["data"]) for change in await changes_after(surface, start)]
    assert [kind for kind, _ in told] == ["share.created", "events.ingested"]
    assert told[1][1] == {"count": 1}


async def test_an_ingest_call_is_one_change_with_its_number_of_items(surface):
    start = await newest(surface)
    history = {
        "created_at": "2026-01-31T09:30:00Z",
        "file_size_bytes": 7,
        "downloads": ["2026-01-31T09:31:00Z"],
        "payments": [{"amount": 5, "currency": "usd", "at": "2026-01-31T09:32:00Z", "refunds": []}],
        "completed_at": "2026-01-31T09:33:00Z",
    }
    sessions = [{**history, "external_id": uuid4().hex} for _ in range(3)]
    await surface.ingest_file_share_sessions(data={"sessions": sessions})
    events = [{"name": "a", "external_customer_id": "c"} for _ in range(4)]
    await surface.ingest_events(data={"events": events})
    told = [(change["kind"], change["data"]) for change in await changes_after(surface, start)]
    assert told == [("file_share_sessions.ingested", {"count": 3}), ("events.ingested", {"count": 4})]


async def test_a_page_takes_one_statement_for_each_resource(rest, gateway, tenant):
    await world_of(gateway, tenant)
    resources = {ChangeKind(change["kind"]).resource for change in await changes_after(rest, None)}
    with noted(gateway.database) as statements:
        page = await rest.get_changes(limit=100)
    assert {change["resource"] for change in page["data"]} == resources
    read = [text for text in statements if text.endswith("AS lines")]
    assert len(read) == len(resources)
