"""A workspace's picture is chosen from its uploaded ones; the API also takes any other address."""

from tests.support.tenants.uploads import upload_image

SAVE = "Save settings"


async def upload_picture(surface, name="logo.png"):
    file = await upload_image(surface, service="workspace_avatar", name=name)
    return file["public_url"]


async def picture_of(api, tenant):
    return (await api.get_workspace(id=tenant.id))["avatar_url"]


def offered(owner):
    return owner.page.text.count('type="radio" name="avatar_url"') - 1


async def test_an_uploaded_picture_is_chosen_shown_and_taken_away(owner, api, rest, tenant):
    path = f"/workspaces/{tenant.slug}"
    await owner.open(path)
    assert (offered(owner), dict(owner.form(SAVE).fields)["avatar_url"]) == (0, "")
    first, second = await upload_picture(rest), await upload_picture(rest, "logo two.png")
    await owner.open(path)
    assert offered(owner) == 2
    await owner.press(SAVE, avatar_url=second)
    assert await picture_of(api, tenant) == second
    assert dict(owner.form(SAVE).fields)["avatar_url"] == second
    await owner.press(SAVE, avatar_url=first)
    assert await picture_of(api, tenant) == first
    assert f'<img class="initial" src="{first}"' in owner.page.text
    portal = await owner.client.get(f"/{tenant.slug}/portal")
    assert first in portal.text
    await owner.open(path)
    await owner.press(SAVE, avatar_url="")
    assert await picture_of(api, tenant) is None


async def test_a_picture_from_elsewhere_is_kept_and_may_be_loaded(owner, api, tenant):
    elsewhere = "https://images.example.com/logo.png"
    await api.update_workspace(id=tenant.id, data={"avatar_url": elsewhere})
    answer = await owner.open(f"/workspaces/{tenant.slug}")
    assert "https://images.example.com" in answer.headers["content-security-policy"]
    assert offered(owner) == 1
    assert '<span class="initial" aria-hidden="true">A</span>' in owner.page.text
    await owner.press(SAVE, name="Acme again")
    assert await picture_of(api, tenant) == elsewhere


async def test_unfinished_and_other_files_and_those_of_others_are_not_offered(
    owner, caller, rest, tenant, other_tenant
):
    await upload_image(rest)
    await upload_picture(caller(other_tenant.token))
    await owner.open(f"/workspaces/{tenant.slug}")
    assert offered(owner) == 0


async def test_what_is_no_address_is_refused_and_loads_nothing(owner, api, tenant):
    await owner.open(f"/workspaces/{tenant.slug}")
    answer = await owner.press(SAVE, avatar_url="javascript:alert(1)")
    assert answer.status_code == 422
    assert 'href="#avatar_url"' in answer.text
    assert "javascript:" not in answer.text
    assert await picture_of(api, tenant) is None
