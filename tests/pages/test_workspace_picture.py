"""A workspace's picture is chosen from its uploaded ones; the API also takes any other address."""

import pytest

from tests.support.uploads import upload_image

SAVE = "Save settings"


@pytest.fixture
def browser(signed_in_browser):
    return signed_in_browser


async def upload_picture(surface, name="logo.png"):
    file = await upload_image(surface, service="workspace_avatar", name=name)
    return file["public_url"]


async def picture_of(api, tenant):
    return (await api.get_workspace(id=tenant.id))["avatar_url"]


def offered(browser):
    return browser.page.text.count('type="radio" name="avatar_url"') - 1


async def test_an_uploaded_picture_is_chosen_shown_and_taken_away(browser, api, rest, tenant):
    path = f"/workspaces/{tenant.slug}"
    await browser.open(path)
    assert (offered(browser), dict(browser.form(SAVE).fields)["avatar_url"]) == (0, "")
    first, second = await upload_picture(rest), await upload_picture(rest, "logo two.png")
    await browser.open(path)
    assert offered(browser) == 2
    await browser.press(SAVE, avatar_url=second)
    assert await picture_of(api, tenant) == second
    assert dict(browser.form(SAVE).fields)["avatar_url"] == second
    await browser.press(SAVE, avatar_url=first)
    assert await picture_of(api, tenant) == first
    assert f'<img class="initial" src="{first}"' in browser.page.text
    portal = await browser.client.get(f"/{tenant.slug}/portal")
    assert first in portal.text
    await browser.open(path)
    await browser.press(SAVE, avatar_url="")
    assert await picture_of(api, tenant) is None


async def test_a_picture_from_elsewhere_is_kept_and_may_be_loaded(browser, api, tenant):
    elsewhere = "https://images.example.com/logo.png"
    await api.update_workspace(id=tenant.id, data={"avatar_url": elsewhere})
    answer = await browser.open(f"/workspaces/{tenant.slug}")
    assert "https://images.example.com" in answer.headers["content-security-policy"]
    assert offered(browser) == 1
    assert '<span class="initial" aria-hidden="true">A</span>' in browser.page.text
    await browser.press(SAVE, name="Acme again")
    assert await picture_of(api, tenant) == elsewhere


async def test_unfinished_and_other_files_and_those_of_others_are_not_offered(
    browser, caller, rest, tenant, other_tenant
):
    await upload_image(rest)
    await upload_picture(caller(other_tenant.token))
    await browser.open(f"/workspaces/{tenant.slug}")
    assert offered(browser) == 0


async def test_what_is_no_address_is_refused_and_loads_nothing(browser, api, tenant):
    await browser.open(f"/workspaces/{tenant.slug}")
    answer = await browser.press(SAVE, avatar_url="javascript:alert(1)")
    assert answer.status_code == 422
    assert 'href="#avatar_url"' in answer.text
    assert "javascript:" not in answer.text
    assert await picture_of(api, tenant) is None
