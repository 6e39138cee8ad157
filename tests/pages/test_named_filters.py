"""Filters of lists name customers and shares as people do."""

import pytest


@pytest.fixture
def base(tenant):
    return f"/{tenant.slug}"


@pytest.fixture
async def share(rest, customer):
    """A share with a session of a customer."""
    share = await rest.create_share(data={"name": "Field guide", "prices": [{"amount_type": "free"}]})
    ids = {"share_id": share["id"], "customer_id": customer["id"]}
    await rest.create_file_share_session(data={"file_size_bytes": 4200, **ids})
    return share["id"]


async def test_a_filter_takes_a_customer_by_name_email_or_external_id(owner, rest, share, base):
    ada = await rest.create_customer(
        data={"email": "ada@example.com", "name": "Lovelace", "external_id": "C-1"}
    )
    other = await rest.create_customer(data={"email": "lovelace@example.org", "name": "Lovelace King"})
    data = {"share_id": share, "customer_id": ada["id"], "file_size_bytes": 1}
    await rest.create_file_share_session(data=data)
    for text in ("lovelace", "C-1", "ADA@example.com", ada["id"]):
        await owner.open(f"{base}/sessions?customer_id={text}")
        assert "1 session" in owner.text
        assert dict(owner.form("Show").fields)["customer_id"] == "ada@example.com"
        assert f"customer_id={ada['id']}" in owner.text
    await owner.open(f"{base}/sessions?customer_id=example.")
    assert owner.page.status_code == 422
    assert "Several customers match: " in owner.text
    await owner.open(f"{base}/events?customer_id=nobody")
    assert "No customer matches this" in owner.text
    await rest.delete_customer(id=ada["id"])
    await owner.open(f"{base}/sessions?customer_id={ada['id']}")
    assert "1 session" in owner.text
    await owner.open(f"{base}/sessions?customer_id=none")
    assert "No sessions match these filters" in owner.text
    found = await owner.open(f"{base}/suggestions/customers?q=lovelace")
    assert found.json() == [{"value": other["email"], "label": "Lovelace King"}]
    assert (await owner.open(f"{base}/suggestions/files?q=a")).status_code == 404


async def test_a_share_of_many_is_typed_in_a_filter(owner, rest, share, base):
    free = {"prices": [{"amount_type": "free"}]}
    for number in range(100):
        await rest.create_share(data={"name": f"Chapter {number}", **free})
    await owner.open(f"{base}/sessions?share_id=field guide")
    assert "1 session" in owner.text
    assert dict(owner.form("Show").fields)["share_id"] == "Field guide"
    found = await owner.open(f"{base}/suggestions/shares?q=chapter 99")
    assert found.json() == [{"value": "Chapter 99", "label": "Chapter 99"}]
