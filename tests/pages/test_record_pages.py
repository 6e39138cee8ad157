"""The pages of customers, sessions, payments, events, files and custom fields, without JavaScript."""

import pytest

from tests.support.browsers.browsing import signed_in
from tests.support.tenants.uploads import upload_file


@pytest.fixture
def base(tenant):
    return f"/{tenant.slug}"


async def test_a_customer_is_created_changed_and_deleted(owner, rest, base):
    await owner.open(f"{base}/customers")
    assert "No customers yet" in owner.text
    await owner.open(f"{base}/customers/new")
    await owner.press("Create customer", email="ada", billing_address__country="GB")
    assert "Email: Enter an email address" in owner.text
    assert dict(owner.form("Create customer").fields)["billing_address.country"] == "GB"
    await owner.press("Create customer", email="ada@example.com", external_id="C-1")
    assert "Customer created." in owner.text
    [made] = (await rest.list_customers())["data"]
    assert (made["external_id"], made["billing_address"]["country"]) == ("C-1", "GB")
    await owner.open(f"{base}/customers/{made['id']}")
    assert "Country United Kingdom" in owner.text
    await owner.open(f"{base}/customers/{made['id']}/edit")
    await owner.press("Save customer", name="Ada Lovelace", billing_address__country="", metadata__0__key="k")
    [changed] = (await rest.list_customers())["data"]
    assert (changed["name"], changed["billing_address"]["country"]) == ("Ada Lovelace", None)
    assert changed["metadata"] == {"k": ""}
    # Its name is the heading, and what is not set is folded with the ids.
    facts, _, folded = owner.page.text.partition('class="facts"')[2].partition('class="folded"')
    assert "<dt>Email</dt>" in facts
    assert "<dt>Name</dt>" not in facts + folded
    assert "<dt>Language</dt>" in folded.partition("</details>")[0]
    await owner.press("Delete customer")
    assert "Customer deleted." in owner.text
    assert owner.path == f"{base}/customers"
    await owner.open(f"{base}/events")
    assert "Ada Lovelace (deleted)" in owner.text


async def test_an_address_that_is_taken_is_named_at_its_field(owner, customer, base):
    await owner.open(f"{base}/customers/new")
    await owner.press("Create customer", email=customer["email"])
    assert owner.page.status_code == 422
    assert '<a href="#email">Email: This email' in owner.page.text


async def test_members_of_a_team_are_added_changed_and_removed(owner, rest, base):
    team = await rest.create_customer(data={"email": "team@example.com", "type": "team"})
    await owner.open(f"{base}/customer-members/new?customer_id={team['id']}")
    await owner.press("Add member", email="grace", name="Grace")
    assert "Email: Enter an email address" in owner.text
    assert f"{base}/customers/{team['id']}" in owner.reading.links
    await owner.press("Add member", email="grace@example.com")
    assert owner.path == f"{base}/customers/{team['id']}"
    assert "Grace grace@example.com Member" in owner.text
    members = (await rest.list_members(customer_id=[team["id"]]))["data"]
    [grace] = [member for member in members if member["role"] == "member"]
    await owner.open(f"{base}/customer-members/{grace['id']}/edit")
    await owner.press("Save member", role="billing_manager")
    assert "Grace grace@example.com Billing manager" in owner.text
    await owner.open(f"{base}/customer-members/{grace['id']}")
    await owner.press("Remove member")
    assert "Member removed." in owner.text
    assert "grace@example.com" not in owner.text


async def test_an_individual_has_no_button_for_members_and_an_owner_none_to_remove(
    owner, rest, customer, base
):
    await owner.open(f"{base}/customers/{customer['id']}")
    assert "New member" not in owner.text
    [member] = (await rest.list_members(customer_id=[customer["id"]]))["data"]
    await owner.open(f"{base}/customer-members/{member['id']}")
    assert "Remove" not in owner.text


async def test_a_portal_link_is_shown_once_and_signs_the_customer_in(owner, customer, base):
    await owner.open(f"{base}/customers/{customer['id']}/portal-link")
    await owner.press("Create link", return_url="nowhere")
    assert "Back button leads to: Enter an address" in owner.text
    await owner.press("Create link", return_url="https://shop.example")
    assert owner.page.status_code == 201
    [link] = [link for link in owner.reading.links if "customer_session_token=" in link]
    await owner.open(link)
    assert "Continue" in owner.text


async def test_sessions_are_filtered_by_status_share_and_dates(owner, sale, base):
    for query, shown in (
        ("", True),
        ("status=created", True),
        ("status=expired", False),
        (f"share_id={sale['share_id']}&currency=jpy", True),
        ("start_date=2020-01-01&end_date=2020-01-31&timezone=Europe/Berlin", False),
    ):
        await owner.open(f"{base}/sessions?{query}")
        assert owner.page.status_code == 200
        assert (f"{base}/sessions/{sale['file_share_session_id']}" in owner.reading.links) is shown, query
    await owner.open(f"{base}/sessions?start_date=2020-01-31&end_date=2020-01-01")
    assert owner.page.status_code == 422
    assert '<a href="#end_date">' in owner.page.text


async def test_a_payment_is_refunded_in_its_own_currency_until_nothing_is_left(owner, rest, sale, base):
    await owner.open(f"{base}/payments/{sale['id']}/refund")
    assert dict(owner.form("Refund payment").fields)["amount"] == "1900"
    await owner.press("Refund payment", amount="2000", platform_fee="30")
    assert owner.page.status_code == 422
    assert '<a href="#amount">' in owner.page.text
    await owner.press("Refund payment", amount="900")
    assert "Refund recorded." in owner.text
    assert "Refunded ¥900" in owner.text
    assert "Session View session" in owner.text
    assert "Refunds 1" in owner.text
    paid = await rest.get_file_share_payment(id=sale["id"])
    assert (paid["refunded_amount"], paid["refunds"][0]["platform_fee"]) == (900, 30)
    await owner.open(f"{base}/payments/{sale['id']}/refund")
    await owner.press("Refund payment")
    assert f"{base}/payments/{sale['id']}/refund" not in owner.reading.links
    await owner.open(f"{base}/payments")
    assert "¥1,900 Refunded" in owner.text


async def test_a_payment_and_a_download_are_recorded_on_the_page_of_their_session(owner, rest, sale, base):
    path = f"{base}/sessions/{sale['file_share_session_id']}"
    await owner.open(f"{path}/payment")
    fields = dict(owner.form("Record payment").fields)
    assert (fields["amount"], fields["currency"]) == ("1900", "jpy")
    await owner.press("Record payment", amount="much", currency="eur")
    assert owner.page.status_code == 422
    await owner.press("Record payment", amount="12.50", currency="eur", external_id="P-2")
    assert "Payment recorded." in owner.text
    assert owner.path == path
    assert "€12.50" in owner.text
    await owner.open(f"{path}/download")
    await owner.press("Record download", external_id="D-1")
    assert "Download recorded." in owner.text
    session = await rest.get_file_share_session(id=sale["file_share_session_id"])
    assert (session["status"], session["download_count"]) == ("active", 1)


@pytest.mark.parametrize(
    ("button", "notice", "status"),
    [
        ("Complete session", "Session completed.", "completed"),
        ("Expire session", "Session expired.", "expired"),
    ],
)
async def test_a_session_is_ended_once(owner, rest, sale, base, button, notice, status):
    path = f"{base}/sessions/{sale['file_share_session_id']}"
    await owner.open(path)
    form = owner.form(button)
    await owner.press(button)
    assert notice in owner.text
    assert (await rest.get_file_share_session(id=sale["file_share_session_id"]))["status"] == status
    buttons = [button for each in owner.reading.forms for button in each.buttons]
    assert {"Complete session", "Expire session"}.isdisjoint(buttons)
    assert f"{path}/download" not in owner.reading.links
    assert (await owner.send(form.action, form.fields)).status_code == 422
    assert "There is a problem" in owner.text


async def test_a_refund_that_is_sent_twice_is_recorded_once(owner, rest, sale, base):
    await owner.open(f"{base}/payments/{sale['id']}/refund")
    form = owner.form("Refund payment")
    sent = [pair for pair in form.fields if pair[0] != "amount"] + [("amount", "500")]
    for _ in range(2):
        await owner.send(form.action, sent)
    assert (await rest.get_file_share_payment(id=sale["id"]))["refunded_amount"] == 500


async def test_events_are_filtered_by_name_source_and_metadata(owner, rest, customer, base):
    events = [
        {"name": "page.viewed", "customer_id": customer["id"], "metadata": {"path": f"/{number}"}}
        for number in range(3)
    ]
    await rest.ingest_events(data={"events": [*events, {"name": "job.done", "external_customer_id": "x"}]})
    for query, count in (
        ("", "5 events"),
        ("name=page.viewed", "3 events"),
        ("source=system", "1 event "),
        (f"customer_id={customer['id']}", "4 events"),
        ("metadata.0.key=path&metadata.0.value=/1", "1 event "),
    ):
        await owner.open(f"{base}/events?{query}")
        assert count in owner.text, query
    assert "path /1" in owner.text
    assert "/api/changes/stream?workspace_id=" in owner.page.text
    [event] = (await rest.list_events(name=["job.done"]))["data"]
    await owner.open(f"{base}/events/{event['id']}")
    assert "External customer ID x" in owner.text


async def test_a_file_is_shown_downloaded_and_deleted(owner, rest, gateway, base):
    made = await upload_file(rest, b"a book", name="book.pdf")
    await owner.open(f"{base}/files?name=book")
    assert "book.pdf Files to download 6 B Uploaded" in owner.text
    answer = await owner.client.get(f"{base}/files/{made['id']}/download")
    assert answer.status_code == 303
    assert (await gateway.client.get(answer.headers["location"])).content == b"a book"
    await owner.open(f"{base}/files/{made['id']}")
    await owner.press("Delete file")
    assert "File deleted." in owner.text
    assert "book.pdf" not in owner.text


async def test_an_unfinished_file_has_no_download(owner, rest, base):
    parts = [{"number": 1, "chunk_start": 0, "chunk_end": 6}]
    data = {"service": "downloadable", "name": "b.pdf", "mime_type": "application/pdf", "size": 6}
    made = await rest.create_file(data={**data, "upload": {"parts": parts}})
    await owner.open(f"{base}/files/{made['id']}")
    assert "Not finished" in owner.text
    assert f"{base}/files/{made['id']}/download" not in owner.reading.links
    assert (await owner.open(f"{base}/files/{made['id']}/download")).status_code == 404


async def test_a_custom_field_is_created_changed_attached_and_deleted(owner, rest, base):
    await owner.open(f"{base}/custom-fields/new")
    names = {"slug": "size", "name": "Size", "type": "select"}
    await owner.press("Create custom field", **names)
    assert owner.page.status_code == 422
    options = {"properties__options__0__value": "s", "properties__options__0__label": "Small"}
    await owner.press("Create custom field", **options)
    assert "Custom field created." in owner.text
    [made] = (await rest.list_custom_fields())["data"]
    assert made["properties"]["options"] == [{"value": "s", "label": "Small"}]
    await owner.open(f"{base}/custom-fields/{made['id']}/edit")
    more = {"properties__options__1__value": "l", "properties__options__1__label": "Large"}
    await owner.press("Save custom field", name="Sizes", **more)
    [changed] = (await rest.list_custom_fields())["data"]
    assert (changed["name"], len(changed["properties"]["options"])) == ("Sizes", 2)
    await owner.open(f"{base}/shares/new")
    attached = {"attached_custom_fields__0__custom_field_id": made["id"]}
    await owner.press("Create share", name="A share", prices__0__amount_type="free", **attached)
    assert "Custom fields Sizes" in owner.text
    await owner.open(f"{base}/custom-fields/{made['id']}")
    await owner.press("Delete custom field")
    assert (await rest.list_custom_fields())["data"] == []


@pytest.mark.parametrize("path", ["sessions", "payments", "events", "files", "custom-fields", "customers"])
async def test_an_empty_list_names_the_next_step(owner, base, path):
    await owner.open(f"{base}/{path}")
    assert " yet " in owner.text


async def test_records_of_other_workspaces_are_not_found(gateway, other_tenant, tenant, rest, sale, customer):
    [member] = (await rest.list_members(customer_id=[customer["id"]]))["data"]
    paths = [
        f"customers/{customer['id']}",
        f"customers/{customer['id']}/edit",
        f"customers/{customer['id']}/portal-link",
        f"customer-members/{member['id']}",
        f"sessions/{sale['file_share_session_id']}",
        f"payments/{sale['id']}",
        f"payments/{sale['id']}/refund",
    ]
    async with signed_in(gateway, other_tenant) as browser:
        for slug in (tenant.slug, other_tenant.slug):
            for path in paths:
                assert (await browser.open(f"/{slug}/{path}")).status_code == 404, path


@pytest.mark.parametrize(
    "path",
    [
        "shares/new?prices=abc&metadata=x&medias=y&name=%00&attached_custom_fields=1",
        "shares?metadata.0.key=a&metadata.7.value=%00&sorting=nothing&page=x",
        "shares?is_archived=maybe&query=" + "a" * 300,
        "events?parent_id=no-id&timezone=Nowhere&start_date=yesterday",
        "payments?share_id=no-id&customer_id=no-id",
        "customers?page=99999",
        "customer-members/new?customer_id=no-id",
    ],
)
async def test_no_address_breaks_a_page(owner, base, path):
    assert (await owner.open(f"{base}/{path}")).status_code in (200, 422)
