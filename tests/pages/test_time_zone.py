"""The time zone of a workspace: its pages count days and show times in it, and name it once."""

import pytest

from tests.support.callers.refusals import refusal

ZONE = "Asia/Kolkata"
# 1 February there, at 01:15.
EVENING = "2026-01-31T19:45:00Z"


@pytest.fixture
async def session(rest, tenant):
    await rest.update_workspace(id=tenant.id, data={"timezone": ZONE})
    customer = await rest.create_customer(data={"email": "late@example.com"})
    share = await rest.create_share(data={"name": "Field guide", "prices": [{"amount_type": "free"}]})
    bought = {"share_id": share["id"], "customer_id": customer["id"], "file_size_bytes": 1}
    return await rest.create_file_share_session(data={**bought, "created_at": EVENING})


async def test_a_workspace_has_a_zone_of_the_list_or_none(caller, tenant):
    surface = caller(tenant.token)
    changed = await surface.update_workspace(id=tenant.id, data={"timezone": ZONE})
    assert changed["timezone"] == ZONE
    assert await refusal(surface.update_workspace(id=tenant.id, data={"timezone": "Mars"})) == {
        ("timezone",): "timezone"
    }
    assert (await surface.get_workspace(id=tenant.id))["timezone"] == ZONE
    removed = await surface.update_workspace(id=tenant.id, data={"timezone": None})
    assert removed.get("timezone") is None


async def test_lists_show_times_in_the_zone_and_name_it_once(owner, session, tenant):
    await owner.open(f"/{tenant.slug}/sessions")
    assert "1 Feb 2026, 01:15" in owner.text
    assert 'title="31 Jan 2026, 19:45 UTC"' in owner.page.text
    assert owner.text.count(f"Times are in {ZONE}.") == 1
    assert "data-local" not in owner.page.text


@pytest.mark.parametrize(("day", "is_shown"), [("2026-01-31", False), ("2026-02-01", True)])
async def test_dates_of_filters_are_days_of_the_zone(owner, session, tenant, day, is_shown):
    await owner.open(f"/{tenant.slug}/sessions?start_date={day}&end_date={day}")
    assert ("1 Feb 2026, 01:15" in owner.text) is is_shown


async def test_the_dashboard_counts_days_of_the_zone(owner, session, tenant):
    asked = "start_date=2026-02-01&end_date=2026-02-01"
    await owner.open(f"/{tenant.slug}/dashboard?{asked}")
    assert f"{ZONE} time" in owner.text
    assert "timezone=" not in owner.page.text.split("<main")[1].split("</form>")[0]
    await owner.open(f"/{tenant.slug}/dashboard?{asked}&timezone=UTC")
    assert "UTC time" in owner.text


async def test_a_founders_browser_names_the_zone(owner, api):
    await owner.open("/workspaces")
    await owner.press("Create workspace", name="Evening", slug="evening-studio", timezone=ZONE)
    (evening,) = (await api.list_workspaces(name="Evening"))["data"]
    assert evening["timezone"] == ZONE
    await owner.open("/workspaces")
    # Nobody chose what a browser with other names sends.
    await owner.press("Create workspace", name="Strange", slug="strange-studio", timezone="Mars/Olympus")
    (strange,) = (await api.list_workspaces(name="Strange"))["data"]
    assert "timezone" not in strange


async def test_the_zone_is_a_setting_that_can_be_left_empty(owner, api, tenant):
    path = f"/workspaces/{tenant.slug}"
    await owner.open(path)
    await owner.press("Save settings", timezone=ZONE)
    assert (await api.get_workspace(id=tenant.id))["timezone"] == ZONE
    await owner.press("Save settings", timezone="Berlin")
    assert owner.page.status_code == 422
    assert '<a href="#timezone">' in owner.page.text
    await owner.open(path)
    await owner.press("Save settings", timezone="")
    assert "timezone" not in await api.get_workspace(id=tenant.id)
