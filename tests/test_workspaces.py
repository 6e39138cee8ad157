"""Workspaces, from outside: made, found, listed and changed."""

from uuid import UUID, uuid4

import pytest

from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES, Scope
from resolvers.accounts import issue_token
from storage.enums import CredentialKind
from tests.conftest import make_token
from tests.surfaces import GraphQL, Refused

ITEM_LEAVES_OUT = {"status", "default_presentment_currency"}


def new_slug() -> str:
    return f"w-{uuid4().hex}"


@pytest.fixture
def personal(surface, tenant):
    """A caller with the tenant's first member's own token."""
    return surface.with_token(tenant.personal_token)


async def test_a_new_workspace_has_every_setting_with_its_default(personal):
    slug = new_slug()
    made = await personal.create_workspace(data={"name": "Acme", "slug": slug})
    assert made == {
        "id": made["id"],
        "created_at": made["created_at"],
        "modified_at": None,
        "name": "Acme",
        "slug": slug,
        "avatar_url": None,
        "email": None,
        "website": None,
        "socials": [],
        "status": "created",
        "details_submitted_at": None,
        "default_presentment_currency": "usd",
        "feature_settings": {
            "member_model_enabled": False,
            "seat_based_pricing_enabled": False,
            "analytics_read": False,
            "analytics_compare": False,
        },
        "notification_settings": {"new_payment": True},
        "customer_email_settings": {"payment_confirmation": True},
        "customer_portal_settings": {"usage": {"show": True}},
    }
    assert await personal.get_workspace(id=made["id"]) == made


async def test_everything_that_is_sent_is_kept_and_details_are_never_given_back(personal):
    data = {
        "name": "Acme",
        "slug": new_slug(),
        "avatar_url": "https://example.com/a.png",
        "email": "Help@Example.com",
        "website": "http://EXAMPLE.com",
        "socials": [{"url": "https://example.com/@acme"}],
        "default_presentment_currency": "jpy",
        "feature_settings": {"member_model_enabled": True},
        "notification_settings": {"new_payment": False},
        "customer_email_settings": {"payment_confirmation": False},
        "customer_portal_settings": {"usage": {"show": False}},
    }
    details = {"about": "Reports", "future_annual_revenue": 2**53 - 1, "switching": True}
    made = await personal.create_workspace(data={**data, "details": details})
    assert made["details_submitted_at"] is not None
    assert "details" not in made
    assert made["feature_settings"].pop("seat_based_pricing_enabled") is False
    assert {name: made[name] for name in data} == data | {
        "feature_settings": {
            "member_model_enabled": True,
            "analytics_read": False,
            "analytics_compare": False,
        }
    }


async def test_the_maker_becomes_the_first_member_and_nobody_else_sees_the_workspace(personal, other_tenant):
    made = await personal.create_workspace(data={"name": "Second", "slug": new_slug()})
    assert {item["id"] for item in (await personal.list_workspaces())["data"]} >= {made["id"]}
    stranger = personal.with_token(other_tenant.personal_token)
    with pytest.raises(Refused, match="not_found"):
        await stranger.get_workspace(id=made["id"])
    with pytest.raises(Refused, match="not_found"):
        await stranger.update_workspace(id=made["id"], data={"name": "Mine"})
