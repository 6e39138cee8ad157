"""The page of what clients use."""

import re

from tests.support.browsers.browsing import signed_in
from tests.support.servers.gateways import bearer
from tests.support.tenants.membership import make_member


async def test_owners_see_what_their_clients_use(gateway, signed_in_browser, tenant):
    path = f"/workspaces/{tenant.slug}/usage"
    await signed_in_browser.open(path)
    assert "No client used the API in this period." in signed_in_browser.text
    for _ in range(3):
        await gateway.client.get("/api/shares/?limit=2", headers=bearer(tenant.token))
    await gateway.app.state.services.usage.write(gateway.database)
    await signed_in_browser.open(path)
    assert re.search(r"GET /api/shares/.*Access token.*3.*UTC", signed_in_browser.text, re.DOTALL)
    assert "limit" not in signed_in_browser.text
    await signed_in_browser.open(f"{path}?kind=argument&days=7")
    assert "GET /api/shares/?limit" in signed_in_browser.text
    await signed_in_browser.open(f"{path}?deprecated=true&kind=nonsense&days=nonsense")
    assert "No client used anything deprecated in this period." in signed_in_browser.text


async def test_members_are_told_that_owners_see_it(gateway, tenant):
    member = await make_member(gateway, tenant)
    async with signed_in(gateway, member) as browser:
        await browser.open(f"/workspaces/{tenant.slug}/usage")
        assert "Only workspace owners can see the usage." in browser.text
