"""What a customer's purchases show and open, in a browser without scripts."""

from html import escape

import pytest

from tests.support.browsers.portal_pages import come_in, portal_of
from tests.support.tenants.uploads import upload_file, upload_image

FREE = [{"amount_type": "free"}]


def purchase_of(customer, **values):
    return {
        "customer_id": customer["id"],
        "price_amount": 1500,
        "price_currency": "jpy",
        "file_size_bytes": 4404019,
        "created_at": "2026-01-31T09:00:00Z",
        **values,
    }


async def share_with_a_file(rest):
    file = await upload_file(rest, name="birds.pdf", mime_type="application/pdf")
    return await rest.create_share(data={"name": "Guide", "prices": FREE, "downloads": [file["id"]]})


async def make_activity(rest, customer, *, paid=2000, **values):
    """A session that was downloaded, and paid with 500 more than the price, which were refunded."""
    session = await rest.create_file_share_session(data=purchase_of(customer, **values))
    await rest.record_download(id=session["id"], data={"at": "2026-01-31T10:00:00Z"})
    payment = await rest.record_payment(
        id=session["id"], data={"amount": paid, "currency": "jpy", "at": "2026-01-31T09:30:00Z"}
    )
    await rest.refund_payment(id=payment["id"], data={"amount": 500, "at": "2026-02-01T12:00:00Z"})
    return session


async def test_a_card_of_the_catalog_opens_the_share(browser, rest, tenant, customer):
    media = await upload_image(rest)
    data = {"name": "Field guide", "description": "All birds.", "prices": FREE, "medias": [media["id"]]}
    share = await rest.create_share(data=data)
    await rest.update_workspace(id=tenant.id, data={"website": "https://shop.example/"})
    await come_in(browser, rest, customer)
    await browser.open(f"{portal_of(tenant)}/shares")
    address = f"{portal_of(tenant)}/shares/{share['id']}"
    assert address in browser.reading.links
    await browser.open(address)
    assert "Field guide Free All birds. Get it at shop.example" in browser.text
    assert f'src="{media["public_url"]}"' in browser.page.text

    session = await make_activity(rest, customer, share_id=share["id"])
    await browser.open(address)
    assert f"{portal_of(tenant)}/purchases/{session['id']}" in browser.reading.links
    await rest.delete_share(id=share["id"])
    assert (await browser.open(address)).status_code == 404


async def test_a_customer_reads_its_purchases_with_payments_and_downloads(browser, rest, tenant, customer):
    session = await make_activity(rest, customer)
    await come_in(browser, rest, customer)
    address = f"{portal_of(tenant)}/purchases/{session['id']}"
    assert "31 January 2026 ¥1,500 No files yet" in browser.text
    assert address in browser.reading.links
    await browser.open(address)
    for text in (
        "Bought on 31 January 2026 ¥1,500",
        "31 January 2026, 09:30 UTC ¥2,000 ¥500 refunded on 1 February 2026",
        "1 download 31 January 2026, 10:00 UTC",
    ):
        assert text in browser.text


async def test_a_purchase_without_a_price_is_free(browser, rest, tenant, customer):
    for price in ({"price_amount": 0}, {"price_amount": None, "price_currency": None}):
        session = await rest.create_file_share_session(data=purchase_of(customer, **price))
        await come_in(browser, rest, customer)
        await browser.open(f"{portal_of(tenant)}/purchases/{session['id']}")
        assert "Received on 31 January 2026 Free" in browser.text


async def test_no_page_shows_the_states_that_a_workspace_reports(browser, rest, tenant, customer):
    share = await share_with_a_file(rest)
    session = await make_activity(rest, customer, share_id=share["id"])
    states = ["Active", "Created", "Completed"]
    await come_in(browser, rest, customer)
    pages = ("", f"/purchases/{session['id']}", "/shares", f"/shares/{share['id']}")
    for end in (None, rest.complete_file_share_session):
        if end is not None:
            await end(id=session["id"], data={})
        for page in pages:
            await browser.open(portal_of(tenant) + page)
            assert browser.page.status_code == 200
            assert not [word for word in [*states, "ession"] if word in browser.text], page


async def test_a_customer_downloads_a_file_of_a_purchase(browser, rest, tenant, customer):
    share = await share_with_a_file(rest)
    session = await make_activity(rest, customer, share_id=share["id"])
    await come_in(browser, rest, customer)
    assert "31 January 2026 ¥1,500 1 file, 7 B" in browser.text
    await browser.open(f"{portal_of(tenant)}/purchases/{session['id']}")
    assert "birds.pdf 7 B" in browser.text
    answer = await browser.press("Download")
    assert answer.status_code == 200
    assert "Your download has started." in browser.text
    assert "2 downloads" in browser.text
    (link,) = [link for link in browser.reading.links if "/objects" in link]
    loaded = await browser.client.get(link)
    assert (loaded.content, loaded.headers["content-type"]) == (b"content", "application/pdf")
    assert f'content="0; url={escape(link)}"' in answer.text
    assert (await rest.get_file_share_session(id=session["id"]))["download_count"] == 2


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ("unpaid", "once the payment has arrived"),
        ("paid in part", "once the price is paid: ¥500 left to pay."),
        ("refunded", "The payment was refunded"),
        ("expired", "Access to these files has expired."),
    ],
)
async def test_files_that_cannot_be_downloaded_have_a_reason_and_no_button(
    end, reason, browser, rest, tenant, customer
):
    share = await share_with_a_file(rest)
    if end == "unpaid":
        session = await rest.create_file_share_session(data=purchase_of(customer, share_id=share["id"]))
    else:
        paid = 1500 if end == "paid in part" else 2000
        session = await make_activity(rest, customer, paid=paid, share_id=share["id"])
    form_of = f"{portal_of(tenant)}/purchases/{session['id']}"
    await come_in(browser, rest, customer)
    await browser.open(form_of)
    if end == "refunded":
        (payment,) = (await rest.list_file_share_payments())["data"]
        await rest.refund_payment(id=payment["id"], data={})
    if end == "expired":
        await rest.expire_file_share_session(id=session["id"], data={})
    await browser.open(form_of)
    assert reason in browser.text
    assert "birds.pdf" in browser.text
    assert "Download" not in browser.text


async def test_a_button_on_an_old_page_says_why_it_no_longer_works(browser, rest, tenant, customer):
    share = await share_with_a_file(rest)
    session = await make_activity(rest, customer, share_id=share["id"])
    await come_in(browser, rest, customer)
    await browser.open(f"{portal_of(tenant)}/purchases/{session['id']}")
    form = browser.form("Download")
    await rest.update_share(id=share["id"], data={"downloads": []})
    assert (await browser.send(form.action, form.fields)).status_code == 404
    assert "This file is no longer available." in browser.text
    await rest.expire_file_share_session(id=session["id"], data={})
    assert (await browser.send(form.action, form.fields)).status_code == 403
    assert "Access to these files has expired." in browser.text


async def test_usage_is_hidden_where_the_workspace_does_not_show_it(browser, rest, tenant, customer):
    await rest.update_workspace(id=tenant.id, data={"customer_portal_settings": {"usage": {"show": False}}})
    session = await make_activity(rest, customer)
    await come_in(browser, rest, customer)
    await browser.open(f"{portal_of(tenant)}/purchases/{session['id']}")
    assert "31 January 2026 ¥1,500" in browser.text
    for text in ("4.2 MB", "1 download", "10:00 UTC"):
        assert text not in browser.text
