"""Keeping a copy: lists of what changed in a span of time, and the list of what was deleted."""

from datetime import timedelta
from random import Random
from uuid import UUID

import pytest
from graphql import get_named_type
from sqlalchemy import select

from oauth.scopes import Scope
from resolvers.customers.anonymization import ROWS_AT_A_TIME
from resolvers.graph.root import exposed, make_schema
from storage.clock import now
from storage.retention.deletion import delete_ended
from storage.retention.rules import DELETIONS_KEPT_FOR, RULES
from storage.rows.rows import insert_rows, table_of
from storage.tables.events.events import EventRow
from storage.tables.workspaces.deletions import DeletionRow
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.world import world_of
from tests.support.servers.gateways import make_token
from tests.support.tenants.membership import make_member, make_user, new_email
from tests.support.tenants.uploads import upload_file
from tests.totals.histories import History

pytestmark = pytest.mark.both_databases

NOUNS = (
    "shares",
    "custom_fields",
    "customers",
    "members",
    "files",
    "events",
    "file_share_sessions",
    "file_share_downloads",
    "file_share_payments",
    "file_share_refunds",
)
# The only lists in which rows never change.
FIXED = ("events", "file_share_downloads", "file_share_refunds")
# Credentials and second factors, counts, and what one customer sees: docs/changes.md has the reasons.
WITHOUT_CHANGES = {
    "list_authorized_applications",
    "list_browser_sessions",
    "list_deletions",
    "list_event_names",
    "list_oauth_client_documents",
    "list_oauth_clients",
    "list_passkeys",
    "list_personal_access_tokens",
    "list_portal_file_share_sessions",
    "list_portal_members",
    "list_portal_shares",
    "list_usage",
    "list_webhook_deliveries",
    "list_webhook_endpoints",
    "list_workspace_access_tokens",
}
DELETED = {"customers": "customer", "members": "member", "custom_fields": "custom_field", "files": "file"}


async def pages(surface, name, **filters):
    """All items of a list, by cursors."""
    items, cursor = [], None
    while True:
        page = await getattr(surface, name)(**filters, limit=7, after=cursor)
        items += page["data"]
        cursor = page["meta"]["next_cursor"]
        if cursor is None:
            return items


def test_every_list_tells_what_changed_unless_it_is_named_here():
    lists = {
        name: place.field.args
        for name, place in exposed(make_schema()._schema).items()
        if name.startswith("list_")
    }
    telling = {name for name, arguments in lists.items() if "modifiedSince" in arguments}
    assert lists.keys() - telling == WITHOUT_CHANGES
    for name in telling:
        assert "modifiedBefore" in lists[name], name
        assert "MODIFIED_AT_DESC" in get_named_type(lists[name]["sorting"].type).values, name


@pytest.mark.parametrize("seed", range(2))
async def test_a_copy_that_follows_the_changes_is_the_original(surface, rest, seed):
    history = History(rest, seed)
    copies = {noun: {} for noun in NOUNS}
    since = None
    for _ in range(4):
        for _ in range(25):
            await history.step()
        before = now().isoformat()
        for noun in NOUNS:
            span = {"modified_before": before, "sorting": ["modified_at"]}
            if since is not None:
                span |= {"modified_since": since}
            changed = await pages(surface, f"list_{noun}", **span)
            assert len({item["id"] for item in changed}) == len(changed)
            copies[noun] |= {item["id"]: item for item in changed}
        span = (
            {"deleted_before": before}
            if since is None
            else {"deleted_since": since, "deleted_before": before}
        )
        for deletion in await pages(surface, "list_deletions", **span):
            kinds = [noun for noun, resource in DELETED.items() if resource == deletion["resource"]]
            copies[kinds[0]].pop(deletion["resource_id"], None)
        since = before
        for noun in NOUNS:
            originals = {item["id"]: plain(item) for item in await pages(rest, f"list_{noun}")}
            assert {id: plain(item) for id, item in copies[noun].items()} == originals, noun


def plain(item):
    """The item without what embeds or counts other resources."""
    return {name: value for name, value in item.items() if name not in {"customer", "child_count", "members"}}


async def test_the_order_of_changes_is_that_of_time(surface, gateway, tenant):
    await world_of(gateway, tenant)
    later = (now() + timedelta(minutes=1)).isoformat()
    for noun in NOUNS:
        listed = getattr(surface, f"list_{noun}")
        ascending = (await listed(sorting=["modified_at"], limit=100))["data"]
        descending = (await listed(sorting=["-modified_at"], limit=100))["data"]
        assert ascending == descending[::-1] != [], noun
        if noun not in FIXED and "modified_at" in ascending[0]:
            moments = [item["modified_at"] or item["created_at"] for item in ascending]
            assert moments == sorted(moments), noun
        for filters, total in (({"modified_since": later}, 0), ({"modified_before": later}, len(ascending))):
            page = await listed(**filters, limit=100)
            assert page["meta"]["total"] == len(page["data"]) == total, noun


async def test_workspaces_and_their_members_tell_what_changed(caller, tenant):
    user = caller(tenant.personal_token)
    later = (now() + timedelta(minutes=1)).isoformat()
    for listed in (user.list_workspaces, user.list_workspace_members):
        assert (await listed(sorting=["-modified_at"], modified_before=later))["meta"]["total"] == 1
        assert (await listed(modified_since=later))["meta"]["total"] == 0


async def test_removed_members_and_ended_invitations_are_listed(surface, gateway, tenant):
    owner = surface.with_token(tenant.personal_token)
    colleague = await make_member(gateway, tenant, "owner")
    theirs = surface.with_token(colleague.token)
    ends_with_them = await theirs.invite_workspace_member(
        data={"email": new_email(), "workspace_id": tenant.id}
    )
    withdrawn = await owner.invite_workspace_member(data={"email": new_email(), "workspace_id": tenant.id})
    guest = await make_user(gateway)
    declined = await owner.invite_workspace_member(data={"email": guest.email, "workspace_id": tenant.id})
    await owner.remove_workspace_member(id=withdrawn["id"])
    await surface.with_token(guest.token).decline_workspace_invitation(id=declined["id"])
    await owner.remove_workspace_member(id=colleague.member_id)
    listed = (await surface.list_deletions(resource=["workspace_member"]))["data"]
    assert [item["resource_id"] for item in listed[:2]] == [withdrawn["id"], declined["id"]]
    assert {item["resource_id"] for item in listed[2:]} == {colleague.member_id, ends_with_them["id"]}
    reader = surface.with_token(await make_token(gateway, tenant, Scope.CUSTOMERS_READ))
    assert (await reader.list_deletions())["data"] == []


async def test_a_renewed_invitation_has_changed(surface, gateway, tenant):
    guest = await make_user(gateway)
    owner, invited = surface.with_token(tenant.personal_token), surface.with_token(guest.token)
    invitation = {"email": guest.email, "workspace_id": tenant.id}
    await owner.invite_workspace_member(data=invitation)
    between = now().isoformat()
    assert (await invited.list_workspace_invitations(modified_since=between))["data"] == []
    await owner.invite_workspace_member(data=invitation)
    (renewed,) = (await invited.list_workspace_invitations(modified_since=between))["data"]
    assert (await invited.list_workspace_invitations(sorting=["-modified_at"]))["data"] == [renewed]
    assert (await invited.list_workspace_invitations(modified_before=between))["data"] == []


async def test_a_session_reported_late_is_a_change_of_now(surface):
    before = now().isoformat()
    await surface.create_file_share_session(
        data={"file_size_bytes": 1, "created_at": "2026-01-31T09:30:00Z", "external_id": "late"}
    )
    (session,) = (await surface.list_file_share_sessions(modified_since=before))["data"]
    assert session["external_id"] == "late"


async def test_what_was_deleted_is_listed_in_order(surface, rest):
    team = await rest.create_customer(data={"email": "team@example.com", "type": "team"})
    first = await rest.create_member(data={"customer_id": team["id"], "email": "bo@example.com"})
    field = await rest.create_custom_field(data={"type": "text", "slug": "size", "name": "Size"})
    file = await upload_file(rest)
    await surface.delete_member(id=first["id"])
    await surface.delete_custom_field(id=field["id"])
    await surface.delete_file(id=file["id"])
    await surface.delete_customer(id=team["id"])
    listed = (await surface.list_deletions())["data"]
    owner = team["members"][0]["id"]
    assert [(item["resource"], item["resource_id"]) for item in listed[:3]] == [
        ("member", first["id"]),
        ("custom_field", field["id"]),
        ("file", file["id"]),
    ]
    assert {(item["resource"], item["resource_id"]) for item in listed[3:]} == {
        ("customer", team["id"]),
        ("member", owner),
    }
    moments = [item["deleted_at"] for item in listed]
    assert moments == sorted(moments)
    since = await surface.list_deletions(deleted_since=moments[2])
    assert since["data"] == listed[2:]
    assert (await surface.list_deletions(deleted_before=moments[2]))["meta"]["total"] == 2
    assert (await surface.list_deletions(resource=["file"]))["data"] == [listed[2]]
    backwards = (await surface.list_deletions(sorting=["-deleted_at"]))["data"]
    assert backwards == listed[::-1]


async def test_only_what_the_scopes_can_read_is_listed(surface, rest, gateway, tenant, other_tenant):
    field = await rest.create_custom_field(data={"type": "text", "slug": "size", "name": "Size"})
    customer = await rest.create_customer(data={"email": "ada@example.com"})
    await rest.delete_custom_field(id=field["id"])
    await rest.delete_customer(id=customer["id"])
    reader = surface.with_token(await make_token(gateway, tenant, Scope.CUSTOM_FIELDS_READ))
    assert [item["resource_id"] for item in (await reader.list_deletions())["data"]] == [field["id"]]
    failure = await refused(
        reader.list_deletions(resource=["custom_field", "customer"]), 403, "insufficient_scope"
    )
    assert "`customers:read`" in failure.detail
    assert (await surface.with_token(other_tenant.token).list_deletions())["data"] == []


async def test_a_span_that_begins_before_the_kept_deletions_is_refused(surface):
    old, kept = (now() - DELETIONS_KEPT_FOR + timedelta(minutes=minutes) for minutes in (-5, 5))
    assert await refusal(surface.list_deletions(deleted_since=old.isoformat())) == {
        ("deleted_since",): "not_kept"
    }
    assert (await surface.list_deletions(deleted_since=kept.isoformat()))["data"] == []


async def test_each_batch_of_anonymized_events_has_its_own_time(surface, gateway, tenant):
    customer = await surface.create_customer(data={"email": "ada@example.com"})
    sent = [
        {"name": "seen", "customer_id": customer["id"], "metadata": {"by": "ada@example.com"}}
        for _ in range(ROWS_AT_A_TIME + 1)
    ]
    await surface.ingest_events(data={"events": sent})
    await surface.delete_customer(id=customer["id"], anonymize=True)
    events = table_of(EventRow)
    wanted = select(events.c.created_at).where(
        events.c.workspace_id == UUID(tenant.id), events.c.name == "seen"
    )
    async with gateway.database.read() as connection:
        moments = (await connection.execute(wanted)).scalars().all()
    assert (len(moments), len(set(moments))) == (ROWS_AT_A_TIME + 1, 2)


async def test_deletions_are_listed_for_90_days(rest, gateway, tenant):
    random = Random(1)
    moments = [now() - DELETIONS_KEPT_FOR + timedelta(minutes=random.choice([-5, 5])) for _ in range(12)]
    home = UUID(tenant.id)
    rows = [{"workspace_id": home, "resource": "file", "created_at": moment} for moment in moments]
    async with gateway.database.write() as connection:
        await insert_rows(connection, DeletionRow, rows)
    while await delete_ended(gateway.database, RULES):
        pass
    kept = [moment for moment in moments if moment > now() - DELETIONS_KEPT_FOR]
    assert (await rest.list_deletions(limit=1))["meta"]["total"] == len(kept)
