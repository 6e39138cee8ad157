"""Edits that meet: how a form tells what both changed, and what it does when it knows little."""

import json

import pytest

from gateway.web.records.kit import pages
from tests.support.tenants.uploads import upload_file

PRICE = {"amount_type": "fixed", "price_amount": 1500, "price_currency": "eur"}


@pytest.fixture
def base(tenant):
    return f"/{tenant.slug}/shares"


@pytest.fixture
async def share(rest):
    return await rest.create_share(data={"name": "Field guide", "prices": [PRICE]})


async def test_what_both_changed_is_told_as_people_write_it(owner, rest, base, share):
    files = [(await upload_file(rest, name=f"{name}.pdf"))["id"] for name in ("one", "two", "three")]
    question = await rest.create_custom_field(data={"type": "checkbox", "slug": "terms", "name": "Terms"})
    asked = {"custom_field_id": question["id"], "required": False}
    await rest.update_share(id=share["id"], data={"downloads": files[:1], "attached_custom_fields": [asked]})
    await owner.open(f"{base}/{share['id']}/edit")
    fields = owner.form("Save share").fields
    # The file that is chosen comes first, and those that could be follow.
    assert [value for name, value in fields if name == "downloads"] == files[:1]
    assert all(file in owner.page.text for file in files)
    theirs = {
        "prices": [{**PRICE, "price_amount": 2000}],
        "downloads": [],
        "attached_custom_fields": [],
    }
    await rest.update_share(id=share["id"], data=theirs)
    await owner.press(
        "Save share",
        prices__0__price_amount="12,50",
        downloads=files,
        attached_custom_fields__0__required="on",
    )
    assert owner.page.status_code == 412
    for told in (
        "Price Fixed price · €12.50 · EUR Fixed price · €20.00 · EUR",
        "Files 3 files 0 files",
        "Custom fields Terms · Required Nothing",
    ):
        assert told in owner.text
    await owner.press("Save my version")
    saved = await rest.get_share(id=share["id"])
    assert [file["id"] for file in saved["downloads"]] == files
    assert saved["prices"][0]["price_amount"] == 1250
    assert saved["attached_custom_fields"][0]["required"] is True


@pytest.mark.parametrize("opened", ["", "no JSON", "[1]"])
async def test_a_form_that_forgot_what_it_was_opened_with_disputes_all_that_differs(
    owner, rest, base, share, opened
):
    await owner.open(f"{base}/{share['id']}/edit")
    await rest.update_share(id=share["id"], data={"visibility": "draft"})
    await owner.press("Save share", opened=opened)
    assert owner.page.status_code == 412
    assert "Visibility Public Draft" in owner.text
    assert (await rest.get_share(id=share["id"]))["visibility"] == "draft"


async def test_an_edit_that_others_overtake_again_and_again_is_shown_and_not_saved(
    owner, rest, base, share, monkeypatch
):
    # Nobody else is as fast: one attempt stands for as many as there are.
    monkeypatch.setattr(pages, "MOST_MERGES", 1)
    await owner.open(f"{base}/{share['id']}/edit")
    await rest.update_share(id=share["id"], data={"visibility": "draft"})
    await owner.press("Save share", name="Mine")
    assert owner.page.status_code == 412
    assert "Changes that only they made were kept: Visibility." in owner.text
    assert (await rest.get_share(id=share["id"]))["name"] == "Field guide"
    shown = dict(owner.form("Save my version").fields)
    assert (shown["name"], shown["visibility"]) == ("Mine", "draft")
    assert json.loads(shown["opened"])["visibility"] == ["draft"]
    await owner.press("Save my version")
    saved = await rest.get_share(id=share["id"])
    assert (saved["name"], saved["visibility"]) == ("Mine", "draft")
