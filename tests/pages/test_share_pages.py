"""The pages of shares without JavaScript: forms, their errors, conflicts, filters and who may open them."""

import pytest

from tests.support.browsers.browsing import browsing, signed_in
from tests.support.tenants.membership import make_member

FREE = {"name": "Sample pack", "prices": [{"amount_type": "free"}]}


@pytest.fixture
def base(tenant):
    return f"/{tenant.slug}/shares"


async def only_share(rest):
    [share] = (await rest.list_shares())["data"]
    return share


async def test_a_share_is_created_with_its_price_and_metadata(owner, rest, base):
    await owner.open(base)
    assert "No shares yet" in owner.text
    await owner.open(f"{base}/new")
    await owner.press(
        "Create share",
        name="Field guide",
        description="Birds\r\nand trees",
        prices__0__amount_type="fixed",
        prices__0__price_amount="1,500.50",
        prices__0__price_currency="usd",
        metadata__0__key="pages",
        metadata__0__value="120",
        metadata__0__kind="number",
    )
    assert "Share created." in owner.text
    share = await only_share(rest)
    assert owner.path == f"{base}/{share['id']}"
    assert "Price $1,500.50" in owner.text
    assert share["description"] == "Birds\nand trees"
    assert share["prices"][0]["price_amount"] == 150050
    assert share["metadata"] == {"pages": 120}


async def test_an_amount_has_the_decimal_places_of_its_currency(owner, rest, base):
    await owner.open(f"{base}/new")
    values = {"name": "Guide", "prices__0__price_currency": "jpy"}
    await owner.press("Create share", **values, prices__0__price_amount="15.50")
    assert owner.page.status_code == 422
    assert "Amount: An amount in JPY has no decimal places: enter one such as 1500" in owner.text
    await owner.press("Create share", **values, prices__0__price_amount="1500")
    assert "Price ¥1,500" in owner.text
    assert (await only_share(rest))["prices"][0]["price_amount"] == 1500


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "ab"}, '<a href="#name">Name: Enter at least 3'),
        ({"prices__0__price_amount": ""}, '<a href="#prices.0.price_amount">Amount: Enter a value</a>'),
        (
            {"metadata__0__value": "many"},
            '<a href="#metadata.0.value">Value: Enter a number, such as 12.5</a>',
        ),
        ({"prices__0__price_amount": "", "name": ""}, '<a href="#name">Name: Enter at least 3'),
        ({"prices__0__price_amount": "lots", "name": ""}, '<a href="#name">Name: Enter at least'),
        ({"metadata__0__key": "k" * 41}, '<a href="#metadata.0.value">'),
    ],
)
async def test_errors_are_beside_their_fields_and_nothing_entered_is_lost(owner, base, changes, message):
    await owner.open(f"{base}/new")
    sent = {
        "name": "Field guide",
        "prices__0__price_amount": "15",
        "metadata__0__key": "pages",
        "metadata__0__value": "120",
        "metadata__0__kind": "number",
    } | changes
    await owner.press("Create share", **sent)
    assert owner.page.status_code == 422
    assert message in owner.page.text
    kept = dict(owner.form("Create share").fields)
    for name, value in sent.items():
        assert kept[name.replace("__", ".")] == value


async def test_a_form_that_is_sent_twice_creates_one_share(owner, rest, base):
    await owner.open(f"{base}/new")
    form = owner.form("Create share")
    sent = [pair for pair in form.fields if pair[0] not in ("name", "prices.0.price_amount")]
    sent += [("name", "Field guide"), ("prices.0.price_amount", "15")]
    for _ in range(2):
        await owner.send(form.action, sent)
        assert "Share created." in owner.text
    await only_share(rest)


async def test_an_edit_keeps_a_price_that_stays_and_replaces_one_that_changes(owner, rest, base):
    made = await rest.create_share(
        data={
            **FREE,
            "prices": [{"amount_type": "fixed", "price_amount": 1500, "price_currency": "eur"}],
            "metadata": {"shelf": "7a", "pages": 120, "new": True},
        }
    )
    await owner.open(f"{base}/{made['id']}/edit")
    await owner.press("Save share", name="Another name", metadata__0__key="", metadata__0__value="")
    assert "Share saved." in owner.text
    share = await only_share(rest)
    assert (share["name"], share["metadata"]) == ("Another name", {"pages": 120, "new": True})
    assert share["prices"] == made["prices"]
    await owner.open(f"{base}/{made['id']}/edit")
    await owner.press("Save share", prices__0__amount_type="free")
    [price] = (await only_share(rest))["prices"]
    assert price["amount_type"] == "free"
    assert price["id"] != made["prices"][0]["id"]


async def test_another_row_is_added_without_losing_what_was_entered(owner, base):
    await owner.open(f"{base}/new")
    form = owner.form("Create share")
    sent = [(name, value) for name, value in form.fields if not name.startswith("metadata.0")]
    sent += [("metadata.0.key", "a"), ("metadata.0.value", "1"), ("name", "Half a na"), ("add", "metadata")]
    await owner.send(form.action, sent)
    assert owner.page.status_code == 200
    kept = dict(owner.form("Create share").fields)
    assert kept["name"] == "Half a na"
    assert kept["metadata.0.key"] == "a"
    assert "metadata.1.key" in kept


async def test_two_editors_do_not_overwrite_each_other(owner, rest, base):
    made = await rest.create_share(data=FREE)
    await owner.open(f"{base}/{made['id']}/edit")
    await rest.update_share(id=made["id"], data={"name": "Theirs", "visibility": "draft"})
    await owner.press("Save share", name="Mine")
    assert owner.page.status_code == 412
    assert "This share has changed" in owner.text
    assert "What only they changed was kept: Visibility." in owner.text
    assert "Name Mine Theirs" in owner.text
    assert "Visibility Public Draft" not in owner.text
    assert (await only_share(rest))["name"] == "Theirs"
    shown = dict(owner.form("Save my version").fields)
    assert (shown["name"], shown["visibility"]) == ("Mine", "draft")
    await owner.press("Save my version")
    assert "Share saved." in owner.text
    saved = await only_share(rest)
    assert (saved["name"], saved["visibility"]) == ("Mine", "draft")


async def test_what_an_editor_did_not_touch_stays_as_somebody_else_saved_it(owner, rest, base):
    made = await rest.create_share(
        data={**FREE, "description": "One line\nand another", "metadata": {"a": 1}}
    )
    await owner.open(f"{base}/{made['id']}/edit")
    theirs = {"description": "Theirs", "metadata": {"a": 2, "b": "new"}, "visibility": "draft"}
    await rest.update_share(id=made["id"], data=theirs)
    # A browser sends the lines of a text area in its own way.
    await owner.press("Save share", name="Mine", description="One line\r\nand another")
    assert "Share saved. What somebody else changed meanwhile was kept: Description," in owner.text
    assert "Description, Visibility and Metadata." in owner.text
    saved = await only_share(rest)
    assert {name: saved[name] for name in ("name", *theirs)} == {"name": "Mine", **theirs}


async def test_a_form_that_was_refused_in_between_still_knows_what_it_was_opened_with(owner, rest, base):
    made = await rest.create_share(data=FREE)
    await owner.open(f"{base}/{made['id']}/edit")
    await owner.press("Save share", name="")
    assert owner.page.status_code == 422
    await rest.update_share(id=made["id"], data={"visibility": "draft"})
    await owner.press("Save share", name="Mine")
    assert "Share saved. What somebody else changed meanwhile was kept: Visibility." in owner.text
    assert (await only_share(rest))["visibility"] == "draft"


async def test_a_share_is_archived_and_restored(owner, rest, base):
    made = await rest.create_share(data=FREE)
    await owner.open(f"{base}/{made['id']}")
    await owner.press("Archive share")
    assert "Share archived." in owner.text
    assert (await only_share(rest))["is_archived"] is True
    await owner.press("Restore share")
    assert (await only_share(rest))["is_archived"] is False


async def test_the_address_has_filters_sorting_and_page(owner, rest, base):
    for number in range(27):
        await rest.create_share(data={**FREE, "name": f"Guide {number:02}"})
    await rest.create_share(
        data={**FREE, "name": "Atlas", "visibility": "draft", "metadata": {"shelf": "7a"}}
    )
    await owner.open(f"{base}?query=guide&sorting=name")
    assert "27 shares" in owner.text
    assert 'aria-sort="ascending"' in owner.page.text
    assert "Guide 24" in owner.text
    assert "Guide 25" not in owner.text
    [following] = [link for link in owner.reading.links if "page=2" in link]
    assert "query=guide" in following
    assert "sorting=name" in following
    await owner.open(following)
    assert "Guide 26" in owner.text
    assert "Guide 24" not in owner.text
    await owner.open(f"{base}?visibility=draft&metadata.0.key=shelf&metadata.0.value=7a")
    assert "1 share " in owner.text
    assert "Atlas" in owner.text
    await owner.open(f"{base}?is_archived=true")
    assert "No shares fit these filters" in owner.text


async def test_a_refused_filter_is_named_and_kept(owner, base):
    await owner.open(f"{base}?visibility=secret")
    assert owner.page.status_code == 422
    assert '<a href="#visibility">' in owner.page.text


async def test_the_page_shows_the_call_that_does_the_same(owner, rest, base, tenant):
    await owner.open(f"{base}?query=guide&is_archived=false")
    address = f"http://gateway/api/shares/?workspace_id={tenant.id}&query=guide&is_archived=false"
    assert address in owner.text
    assert f'workspaceId: ["{tenant.id}"]' in owner.text
    assert "isArchived: false" in owner.text


async def test_what_a_share_says_of_itself_is_escaped(owner, rest, base):
    name = "<script>alert(1)</script>"
    made = await rest.create_share(data={**FREE, "name": name, "metadata": {name[:40]: name}})
    for path in (base, f"{base}/{made['id']}", f"{base}/{made['id']}/edit"):
        await owner.open(path)
        assert name not in owner.page.text


async def test_strangers_and_other_workspaces_find_nothing(gateway, owner, rest, base, other_tenant):
    made = await rest.create_share(data=FREE)
    async with browsing(gateway) as stranger:
        await stranger.open(base)
        assert stranger.path.startswith("/sign-in")
    async with signed_in(gateway, other_tenant) as browser:
        for path in (base, f"{base}/new", f"{base}/{made['id']}", f"{base}/{made['id']}/edit"):
            assert (await browser.open(path)).status_code == 404
        for path in (made["id"], "no-id", f"{made['id']}/edit"):
            own = f"/{other_tenant.slug}/shares/{path}"
            assert (await browser.open(own)).status_code == 404


async def test_a_record_of_another_workspace_of_the_user_is_not_shown_in_this_one(gateway, rest, tenant):
    made = await rest.create_share(data=FREE)
    other = await make_other_workspace(gateway, tenant)
    async with signed_in(gateway, tenant) as browser:
        assert (await browser.open(f"/{other}/shares/{made['id']}")).status_code == 404


async def make_other_workspace(gateway, tenant):
    async with signed_in(gateway, tenant) as browser:
        slug = f"other-{tenant.slug}"[:40].rstrip("-")
        await browser.open("/workspaces")
        await browser.press("Create workspace", name="Other", slug=slug)
        return slug


async def test_a_member_who_is_no_owner_manages_shares_too(gateway, rest, tenant, base):
    member = await make_member(gateway, tenant)
    async with signed_in(gateway, member) as browser:
        await browser.open(f"{base}/new")
        await browser.press("Create share", name="Field guide", prices__0__amount_type="free")
        assert "Share created." in browser.text


async def test_another_sites_form_changes_nothing(owner, rest, base):
    made = await rest.create_share(data=FREE)
    await owner.open(f"{base}/{made['id']}")
    form = owner.form("Archive share")
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert (await owner.send(form.action, form.fields, **headers)).status_code == 403
    assert (await owner.send(form.action, [])).status_code == 403
    assert (await only_share(rest))["is_archived"] is False
