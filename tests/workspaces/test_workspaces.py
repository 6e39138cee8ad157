"""Workspaces, from outside: made, found, listed and changed."""

import asyncio
from uuid import UUID

import pytest

from oauth.scopes import Scope
from resolvers.workspaces.administration import StatusRefused, change_status
from storage.enums import WorkspaceStatus
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.callers.refusals import refusal
from tests.support.callers.surfaces import Refused
from tests.support.servers.gateways import make_token
from tests.support.tenants.membership import new_slug


async def test_a_new_workspace_has_every_setting_with_its_default(owner):
    slug = new_slug()
    made = await owner.create_workspace(data={"name": "Acme", "slug": slug})
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
    assert await owner.get_workspace(id=made["id"]) == made


async def test_everything_that_is_sent_is_kept_and_details_are_never_given_back(owner):
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
    made = await owner.create_workspace(data={**data, "details": details})
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


@pytest.mark.parametrize(
    ("slug", "type"),
    [
        ("ab", "string_too_short"),
        ("-abc", "string_pattern_mismatch"),
        ("a--b", "string_pattern_mismatch"),
        ("abc-", "string_pattern_mismatch"),
        ("a_b_c", "string_pattern_mismatch"),
        ("ä-bc", "string_pattern_mismatch"),
        ("abc\n", "string_pattern_mismatch"),
        ("a" * 129, "string_too_long"),
        ("api", "reserved"),
        ("GraphQL", "reserved"),
        (7, "string_type"),
    ],
)
async def test_a_slug_that_could_not_be_an_address_is_refused(owner, slug, type):
    assert await refusal(owner.create_workspace(data={"name": "Acme", "slug": slug})) == {("slug",): type}


async def test_a_slug_is_lowered_and_then_unique(owner):
    slug = new_slug()
    made = await owner.create_workspace(data={"name": "Acme", "slug": slug.upper()})
    assert made["slug"] == slug
    assert await refusal(owner.create_workspace(data={"name": "Acme", "slug": slug.title()})) == {
        ("slug",): "duplicate"
    }


async def test_of_two_that_want_a_slug_at_once_one_gets_it(owner):
    data = {"name": "Acme", "slug": new_slug()}
    ends = await asyncio.gather(
        *(owner.create_workspace(data=data) for _ in range(3)), return_exceptions=True
    )
    refused = [end for end in ends if isinstance(end, Refused)]
    assert [end.problems for end in refused] == [{("slug",): "duplicate"}] * 2


async def test_a_slug_is_fixed_for_ever(surface, tenant):
    assert await refusal(surface.update_workspace(id=tenant.id, data={"slug": "another"})) == {
        ("slug",): "read_only" if surface.name == "rest" else "extra_forbidden"
    }


async def test_every_problem_of_a_workspace_is_named_at_its_place(owner):
    assert set(
        await refusal(
            owner.create_workspace(
                data={
                    "name": "ab",
                    "slug": "!",
                    "avatar_url": "javascript:alert(1)",
                    "email": "nobody",
                    "website": "",
                    "socials": [{"url": "https://example.com"}, {"url": "ftp://example.com"}],
                    "default_presentment_currency": "xxx",
                    "details": {
                        "future_annual_revenue": -1,
                        "previous_annual_revenue": 2**53,
                        "colour": "red",
                    },
                    "feature_settings": {"analytics_read": "yes", "unheard_of": None},
                    "customer_portal_settings": {"usage": {"show": 1, "more": True}},
                    "status": "active",
                }
            )
        )
    ) == {
        ("name",),
        ("slug",),
        ("avatar_url",),
        ("email",),
        ("website",),
        ("socials", 1, "url"),
        ("default_presentment_currency",),
        ("details", "future_annual_revenue"),
        ("details", "previous_annual_revenue"),
        ("details", "colour"),
        ("feature_settings", "analytics_read"),
        ("feature_settings", "unheard_of"),
        ("customer_portal_settings", "usage", "show"),
        ("customer_portal_settings", "usage", "more"),
        ("status",),
    }


async def test_a_field_left_out_keeps_its_value_and_null_clears_only_what_can_be_null(surface, tenant):
    full = {
        "avatar_url": "https://example.com/a.png",
        "email": "help@example.com",
        "website": "https://example.com",
    }
    filled = await surface.update_workspace(
        id=tenant.id, data={**full, "socials": [{"url": "https://example.com/@a"}]}
    )
    assert filled["modified_at"] is not None
    renamed = await surface.update_workspace(id=tenant.id, data={"name": "Beta"})
    assert renamed == filled | {"name": "Beta", "modified_at": renamed["modified_at"]}

    kept = ("name", "socials", "details", "default_presentment_currency", "feature_settings")
    cleared = await surface.update_workspace(id=tenant.id, data=dict.fromkeys((*full, *kept)))
    assert cleared == renamed | dict.fromkeys(full) | {"modified_at": cleared["modified_at"]}

    replaced = await surface.update_workspace(id=tenant.id, data={"socials": []})
    assert replaced["socials"] == []


async def test_settings_are_merged_at_every_depth_and_null_is_as_if_left_out(surface, tenant):
    await surface.update_workspace(
        id=tenant.id,
        data={
            "feature_settings": {"analytics_compare": True},
            "customer_portal_settings": {"usage": {"show": False}},
        },
    )
    changed = await surface.update_workspace(
        id=tenant.id,
        data={
            "feature_settings": {"member_model_enabled": True, "analytics_compare": None},
            "customer_portal_settings": {"usage": {}},
            "notification_settings": {"new_payment": None},
        },
    )
    assert changed["feature_settings"] == {
        "member_model_enabled": True,
        "seat_based_pricing_enabled": False,
        "analytics_read": False,
        "analytics_compare": True,
    }
    assert changed["customer_portal_settings"] == {"usage": {"show": False}}
    assert changed["notification_settings"] == {"new_payment": True}
    unchanged = await surface.update_workspace(
        id=tenant.id, data={"customer_portal_settings": {"usage": None}}
    )
    assert unchanged["customer_portal_settings"] == {"usage": {"show": False}}


async def test_details_are_merged_and_only_their_first_submission_is_dated(surface, gateway, tenant):
    empty = await surface.update_workspace(id=tenant.id, data={"details": {"about": None}})
    assert empty["details_submitted_at"] is None
    first = await surface.update_workspace(id=tenant.id, data={"details": {"about": "a", "switching": True}})
    assert first["details_submitted_at"] is not None
    again = await surface.update_workspace(
        id=tenant.id, data={"details": {"about": None, "customer_acquisition": ["fairs"]}}
    )
    assert again["details_submitted_at"] == first["details_submitted_at"]
    workspaces = table_of(WorkspaceRow)
    async with gateway.database.read() as connection:
        wanted = workspaces.select().where(workspaces.c.id == UUID(tenant.id))
        row = (await connection.execute(wanted)).mappings().one()
    assert row["details"] == {"about": None, "switching": True, "customer_acquisition": ["fairs"]}


async def test_changes_of_different_settings_at_once_both_last(surface, tenant):
    names = ("member_model_enabled", "analytics_read", "analytics_compare")
    await asyncio.gather(
        *(surface.update_workspace(id=tenant.id, data={"feature_settings": {name: True}}) for name in names)
    )
    settings = (await surface.get_workspace(id=tenant.id))["feature_settings"]
    assert [settings[name] for name in names] == [True] * 3


async def test_operators_move_the_status_along_the_allowed_moves_only(surface, gateway, tenant):
    async def move(status):
        async with gateway.database.write() as connection:
            return await change_status(connection, tenant.slug, status)

    with pytest.raises(StatusRefused, match="only to onboarding_started"):
        await move(WorkspaceStatus.ACTIVE)
    for status in ("onboarding_started", "initial_review", "denied", "initial_review", "active"):
        await move(WorkspaceStatus(status))
    with pytest.raises(StatusRefused, match="only to ongoing_review"):
        await move(WorkspaceStatus.DENIED)
    await move(WorkspaceStatus.ONGOING_REVIEW)
    seen = await surface.get_workspace(id=tenant.id)
    assert seen["status"] == "ongoing_review"
    assert seen["modified_at"] is not None
    with pytest.raises(StatusRefused, match="no workspace"):
        async with gateway.database.write() as connection:
            await change_status(connection, "nobody-has-this", WorkspaceStatus.ACTIVE)


@pytest.mark.both_databases
async def test_of_operators_who_move_the_status_at_once_one_is_obeyed(gateway, tenant):
    async def begin():
        async with gateway.database.write() as connection:
            return await change_status(connection, tenant.slug, WorkspaceStatus.ONBOARDING_STARTED)

    outcomes = await asyncio.gather(*(begin() for _ in range(4)), return_exceptions=True)
    (obeyed,) = [outcome for outcome in outcomes if not isinstance(outcome, StatusRefused)]
    assert obeyed.status == WorkspaceStatus.ONBOARDING_STARTED


async def test_reading_is_not_enough_to_change(surface, gateway, tenant):
    reader = surface.with_token(await make_token(gateway, tenant, Scope.WORKSPACES_READ))
    assert (await reader.get_workspace(id=tenant.id))["id"] == tenant.id
    with pytest.raises(Refused, match=r"insufficient_scope.*`workspaces:write`"):
        await reader.update_workspace(id=tenant.id, data={})


@pytest.mark.parametrize("kind", ["token", "personal_token"])
async def test_a_workspace_is_never_chosen_by_the_credential_alone(graphql, tenant, kind):
    document = "{ workspace { name } viewer { workspaceId } }"
    body = await graphql(document, getattr(tenant, kind))
    assert body["data"]["workspace"] is None
    (error,) = body["errors"]
    assert error["message"] == "Name the workspace by either `id` or `slug`"
    assert [entry["loc"] for entry in error["extensions"]["detail"]] == [["id"]]
    # With a token of the workspace, `viewer` tells which one it is.
    own = tenant.id if kind == "token" else None
    assert body["data"]["viewer"] == {"workspaceId": own}
