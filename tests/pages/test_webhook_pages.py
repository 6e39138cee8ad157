"""The pages of webhooks: endpoints, what they were told, and sending it again, without JavaScript."""

import pytest
import pytest_asyncio

from tests.support.browsers.browsing import signed_in
from tests.support.callers.examples import FREE
from tests.support.callers.world import TOLD_WEBHOOK, add_delivery
from tests.support.servers.gateways import make_tenant


@pytest.fixture
def path(tenant):
    return f"/workspaces/{tenant.slug}/webhooks"


@pytest_asyncio.fixture
async def endpoint(api):
    return (await api.create_webhook_endpoint(data=TOLD_WEBHOOK))["webhook_endpoint"]


async def test_an_endpoint_is_made_with_kinds_that_are_ticked_and_its_secret_shown_once(owner, api, path):
    await owner.open(path)
    assert "no webhook endpoints yet" in owner.text
    values = {"url": "https://hooks.example.com/a", "kinds": ["share.created", "customer.created"]}
    answer = await owner.press("Create endpoint", document="{ viewer { kind } }", **values)
    assert answer.status_code == 201
    assert "whsec_" in owner.page.text
    (made,) = (await api.list_webhook_endpoints())["data"]
    assert (made["url"], made["kinds"]) == (values["url"], ["share.created", "customer.created"])
    assert (made["document"], made["is_enabled"]) == ("{ viewer { kind } }", True)
    await owner.open(f"{path}/{made['id']}")
    assert "whsec_" not in owner.page.text
    shown = owner.form("Save endpoint").fields
    assert [value for name, value in shown if name == "kinds"] == ["share.created", "customer.created"]
    await owner.press("Save endpoint", kinds=["*", "share.created"], document="", is_enabled=None)
    (made,) = (await api.list_webhook_endpoints())["data"]
    assert (made["kinds"], made["document"], made["is_enabled"]) == (["*"], None, False)
    await owner.open(path)
    assert "Disabled" in owner.text
    assert "All kinds" in owner.text


async def test_what_two_change_at_once_is_merged(owner, api, path, endpoint):
    kinds = ["share.updated", "customer.created", "share.created"]
    await api.update_webhook_endpoint(id=endpoint["id"], data={"kinds": kinds})
    await owner.open(f"{path}/{endpoint['id']}")
    theirs = {"kinds": kinds[:2], "description": "Theirs"}
    await api.update_webhook_endpoint(id=endpoint["id"], data=theirs)
    answer = await owner.press("Save endpoint", description="Mine", document="{ viewer { kind } }")
    assert answer.status_code == 409
    assert "It is now Theirs: save again to use yours instead" in owner.text
    await owner.press("Save endpoint")
    assert "Endpoint saved." in owner.text
    saved = await api.get_webhook_endpoint(id=endpoint["id"])
    assert (saved["description"], saved["document"]) == ("Mine", "{ viewer { kind } }")
    assert saved["kinds"] == kinds[:2]


async def test_problems_are_shown_beside_their_fields(owner, api, path):
    await owner.open(path)
    answer = await owner.press("Create endpoint", url="ftp://a", kinds=[], document="{ nothing }")
    assert answer.status_code == 422
    for name in ("url", "kinds"):
        assert f'id="{name}-error"' in answer.text
    answer = await owner.press(
        "Create endpoint", url="https://a.example", kinds=["*"], document="{ nothing }"
    )
    assert 'id="document-error"' in answer.text
    assert (await api.list_webhook_endpoints())["data"] == []


async def test_the_secret_is_renewed_and_the_endpoint_deleted(owner, api, path, endpoint):
    await owner.open(f"{path}/{endpoint['id']}")
    assert (await owner.press("Create new secret")).status_code == 201
    assert "whsec_" in owner.page.text
    await owner.open(f"{path}/{endpoint['id']}")
    await owner.press("Delete endpoint")
    assert "The endpoint is deleted." in owner.text
    assert (await api.list_webhook_endpoints())["data"] == []


async def test_a_test_shows_both_sides(owner, path, endpoint):
    await owner.open(f"{path}/{endpoint['id']}")
    await owner.press("Send test")
    assert "Test: blocked after" in owner.text
    assert "webhook.test" in owner.text
    assert "There was no response." in owner.text


async def test_deliveries_are_listed_opened_and_sent_again(owner, api, tenant, path, endpoint):
    share = await api.create_share(data={"name": "A report", "prices": FREE})
    delivery = await add_delivery(api, endpoint, share["id"])
    await owner.open(f"{path}/{endpoint['id']}?status=failed")
    assert "There are no deliveries with this status" in owner.text
    await owner.open(f"{path}/{endpoint['id']}")
    assert "share.created" in owner.text
    await owner.open(f"/workspaces/{tenant.slug}/webhook-deliveries/{delivery}")
    assert "There was no attempt yet." in owner.text
    await owner.press("Redeliver")
    assert "The delivery will be sent again." in owner.text
    other = await add_delivery(api, endpoint, share["id"])
    await owner.open(f"{path}/{endpoint['id']}")
    await owner.press("Redeliver what did not arrive")
    assert "sent again." in owner.text
    await api.update_webhook_endpoint(id=endpoint["id"], data={"is_enabled": False})
    await owner.open(f"/workspaces/{tenant.slug}/webhook-deliveries/{other}")
    await owner.press("Redeliver")
    assert "The endpoint is disabled" in owner.text
    await api.delete_webhook_endpoint(id=endpoint["id"])
    await owner.open(f"/workspaces/{tenant.slug}/webhook-deliveries/{other}")
    assert "Its endpoint was deleted." in owner.text


async def test_pages_of_another_workspace_are_not_found(gateway, api, endpoint, tenant):
    share = await api.create_share(data={"name": "A report", "prices": FREE})
    delivery = await add_delivery(api, endpoint, share["id"])
    stranger = await make_tenant(gateway)
    async with signed_in(gateway, stranger) as browser:
        for place in (f"webhooks/{endpoint['id']}", f"webhook-deliveries/{delivery}"):
            for slug in (stranger.slug, tenant.slug):
                answer = await browser.client.get(f"/workspaces/{slug}/{place}")
                assert answer.status_code == 404
