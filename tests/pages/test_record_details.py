"""Details of records: what their pages say of single values, and what their forms refuse and keep."""

import pytest

from gateway.web.kit import html
from tests.support.tenants.uploads import upload_file, upload_image

FREE = {"name": "Field guide", "prices": [{"amount_type": "free"}]}


@pytest.fixture
def base(tenant):
    return f"/{tenant.slug}"


async def test_an_external_id_that_is_set_stays_when_its_field_is_emptied(owner, rest, base):
    made = await rest.create_customer(data={"email": "ada@example.com", "external_id": "C-1"})
    await owner.open(f"{base}/customers/{made['id']}/edit")
    await owner.press("Save customer", name="Ada", external_id="")
    assert "Customer saved." in owner.text
    saved = await rest.get_customer(id=made["id"])
    assert (saved["name"], saved["external_id"]) == ("Ada", "C-1")


async def test_a_cost_is_shown_as_finely_as_it_was_reported(owner, rest, base):
    cost = {"amount": "0.125", "currency": "usd"}
    await rest.ingest_events(data={"events": [{"name": "model.called", "cost": cost}]})
    (made,) = (await rest.list_events(name=["model.called"]))["data"]
    await owner.open(f"{base}/events/{made['id']}")
    assert "Cost 0.00125 USD" in owner.text


async def test_files_and_images_of_a_share_lead_to_their_pages(owner, rest, base):
    file = await upload_file(rest, name="birds.pdf")
    cover = await upload_image(rest)
    share = await rest.create_share(data={**FREE, "downloads": [file["id"]], "medias": [cover["id"]]})
    await owner.open(f"{base}/shares/{share['id']}")
    for each in (file, cover):
        assert f"{base}/files/{each['id']}" in owner.reading.links
    assert "Files birds.pdf" in owner.text
    assert f'src="{cover["public_url"]}"' in owner.page.text


@pytest.mark.parametrize(
    ("price", "at", "message"),
    [
        ({"price_amount": "-5"}, "price_amount", "Amount: Enter at least $0.01"),
        ({"price_amount": "99999999999"}, "price_amount", "Amount: Enter at most $"),
        (
            {"amount_type": "custom", "minimum_amount": "20", "maximum_amount": "10"},
            "amount_type",
            "in ascending order",
        ),
    ],
)
async def test_what_is_wrong_with_a_price_is_told_at_one_of_its_fields(owner, rest, base, price, at, message):
    await owner.open(f"{base}/shares/new")
    sent = {f"prices__0__{name}": value for name, value in price.items()}
    await owner.press("Create share", name="Field guide", **sent)
    assert owner.page.status_code == 422
    assert message in owner.text
    assert f'<a href="#prices.0.{at}">' in owner.page.text
    assert (await rest.list_shares())["data"] == []


async def test_a_truth_of_metadata_is_yes_or_no(owner, rest, base):
    await owner.open(f"{base}/customers/new")
    sent = {"email": "ada@example.com", "metadata__0__key": "vip", "metadata__0__kind": "boolean"}
    await owner.press("Create customer", **sent, metadata__0__value="perhaps")
    assert owner.page.status_code == 422
    assert '<a href="#metadata.0.value">Value: Enter yes or no</a>' in owner.page.text
    await owner.press("Create customer", metadata__0__value="Yes")
    (made,) = (await rest.list_customers())["data"]
    assert made["metadata"] == {"vip": True}


async def test_a_page_that_would_be_too_large_is_not_sent(owner, rest, base, monkeypatch):
    # Some MiB would take seconds to write.
    monkeypatch.setattr(html, "LARGEST_ANSWER", 50_000)
    share = await rest.create_share(data={**FREE, "description": "x" * 60_000})
    await owner.open(f"{base}/shares/{share['id']}")
    assert owner.page.status_code == 422
    assert "Unprocessable entity" in owner.text
    assert "The answer would have more than 16 MiB: ask for less at once" in owner.text
    assert len(owner.page.content) < 50_000
