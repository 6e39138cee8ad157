"""Test workspaces: what a copy has of the workspace, and how it is kept apart from real ones."""

import pytest

from oauth.scopes import Scope
from resolvers.workspaces import copying
from tests.support.callers.refusals import refusal, refused
from tests.support.servers.gateways import make_token
from tests.support.tenants.membership import new_slug

SETTINGS = {
    "email": "help@acme.example",
    "website": "https://acme.example",
    "socials": [{"url": "https://social.example/acme"}],
    "default_presentment_currency": "eur",
    "timezone": "Asia/Kolkata",
    "return_url_schemes": ["acme"],
    "feature_settings": {"member_model_enabled": True},
    "customer_portal_settings": {"usage": {"show": False}},
}


@pytest.fixture
async def filled(owner, tenant):
    """The workspace with settings, custom fields and shares, one of them archived."""
    await owner.update_workspace(id=tenant.id, data=SETTINGS)
    home = {"workspace_id": tenant.id}
    fields = [
        await owner.create_custom_field(data={"type": "text", "slug": slug, "name": slug.title(), **home})
        for slug in ("size", "colour")
    ]
    attached = [{"custom_field_id": field["id"], "required": True} for field in reversed(fields)]
    price = {"amount_type": "fixed", "price_amount": 1500}
    guide = {"name": "Field guide", "description": "Birds", "metadata": {"kind": "book"}, "prices": [price]}
    await owner.create_share(data={**guide, "attached_custom_fields": attached, **home})
    free = await owner.create_share(data={"name": "Free", "prices": [{"amount_type": "free"}], **home})
    await owner.delete_share(id=free["id"])
    return await owner.get_workspace(id=tenant.id)


async def shares_of(caller, workspace):
    """The shares of a workspace by name, without what is their own."""
    listed = (await caller.list_shares(workspace_id=[workspace["id"]]))["data"]
    return {share["name"]: _common(share) for share in listed}


def _common(value):
    own = {"id", "workspace_id", "share_id", "custom_field_id", "created_at", "modified_at"}
    if isinstance(value, dict):
        return {name: _common(item) for name, item in value.items() if name not in own}
    return [_common(item) for item in value] if isinstance(value, list) else value


async def test_a_copy_has_the_settings_fields_shares_and_prices(owner, filled):
    copy = await owner.copy_workspace(id=filled["id"], data={})
    assert copy["is_test"] is True
    assert filled.get("is_test") is None
    assert copy["name"] == "Acme (test)"
    assert copy["slug"].startswith(f"{filled['slug']}-test-")
    other = {"id", "name", "slug", "created_at", "modified_at", "is_test"}
    assert {name: copy[name] for name in copy.keys() - other} == {
        name: filled[name] for name in filled.keys() - other
    }
    shares = await shares_of(owner, copy)
    assert shares == await shares_of(owner, filled)
    assert [place["custom_field"]["slug"] for place in shares["Field guide"]["attached_custom_fields"]] == [
        "colour",
        "size",
    ]
    listed = [
        (await owner.list_custom_fields(workspace_id=[workspace["id"]]))["data"]
        for workspace in (filled, copy)
    ]
    assert _common(listed[0]) == _common(listed[1])
    assert {field["id"] for field in listed[0]}.isdisjoint(field["id"] for field in listed[1])


async def test_a_copy_stays_apart_and_is_deleted_by_one_call(owner, filled):
    copy = await owner.copy_workspace(id=filled["id"], data={"name": "Trial", "slug": new_slug()})
    assert copy["name"] == "Trial"
    before = await shares_of(owner, filled)
    (guide,) = [
        share
        for share in (await owner.list_shares(workspace_id=[copy["id"]]))["data"]
        if share["name"] == "Field guide"
    ]
    await owner.update_share(id=guide["id"], data={"prices": [{"amount_type": "free"}]})
    assert await shares_of(owner, filled) == before
    await owner.delete_workspace(id=copy["id"])
    await refused(owner.get_workspace(id=copy["id"]), 404, "not_found")
    assert await shares_of(owner, filled) == before


async def test_a_copy_of_a_test_workspace_is_one_too_and_no_update_makes_one(owner, tenant):
    first = await owner.copy_workspace(id=tenant.id, data={})
    second = await owner.copy_workspace(id=first["id"], data={})
    assert second["is_test"] is True
    await refused(owner.update_workspace(id=tenant.id, data={"is_test": True}), 422, "invalid")


async def test_files_stay_where_they_are(owner, filled, gateway, tenant):
    copy = await owner.copy_workspace(id=filled["id"], data={})
    assert (await owner.list_files(workspace_id=[copy["id"]]))["data"] == []
    assert copy["avatar_url"] is None


async def test_its_changes_are_in_its_log(owner, filled):
    copy = await owner.copy_workspace(id=filled["id"], data={})
    changes = (await owner.get_changes(workspace_id=copy["id"]))["data"]
    assert sorted(change["kind"] for change in changes) == [
        "custom_field.created",
        "custom_field.created",
        "share.created",
        "share.created",
        "workspace_member.joined",
    ]


async def test_a_workspace_that_is_not_visible_is_not_copied(owner, other_tenant, gateway, tenant):
    await refused(owner.copy_workspace(id=other_tenant.id, data={}), 404, "not_found")
    bare = owner.with_token(await make_token(gateway, tenant, Scope.WORKSPACES_READ))
    await refused(bare.copy_workspace(id=tenant.id, data={}), 403, "insufficient_scope")


async def test_a_slug_that_is_taken_or_reserved_is_refused(owner, tenant):
    taken = await refusal(owner.copy_workspace(id=tenant.id, data={"slug": tenant.slug}))
    assert set(taken) == {("data", "slug")} or set(taken) == {("slug",)}
    assert await refusal(owner.copy_workspace(id=tenant.id, data={"slug": "docs"}))


async def test_a_copy_has_a_limit_of_rows_and_of_bytes(owner, filled, monkeypatch):
    monkeypatch.setattr(copying, "MOST_COPIED", 8)
    assert await owner.copy_workspace(id=filled["id"], data={})
    monkeypatch.setattr(copying, "MOST_COPIED", 7)
    failure = await refused(owner.copy_workspace(id=filled["id"], data={}), 403, "not_permitted")
    assert "more than 7 shares" in failure.detail
    monkeypatch.setattr(copying, "MOST_COPIED_BYTES", 5)
    failure = await refused(owner.copy_workspace(id=filled["id"], data={}), 403, "not_permitted")
    assert "bytes" in failure.detail
