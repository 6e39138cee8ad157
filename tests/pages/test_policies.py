"""The operator's policies: linked where people enter what is kept about them."""

import pytest
import pytest_asyncio

from tests.support.browsers.browsing import browsing, signed_in
from tests.support.servers.gateways import make_tenant, run_gateway

PRIVACY, TERMS = "https://example.com/privacy", "https://example.com/terms"


@pytest_asyncio.fixture(scope="module")
async def with_policies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("policies")
    url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
    async for gateway in run_gateway(url, folder, privacy_url=PRIVACY, terms_url=TERMS):
        yield gateway


@pytest.mark.parametrize("path", ["/", "/sign-in", "/sign-up", "/forgotten-password", "/{slug}/portal"])
async def test_strangers_and_customers_find_the_policies(with_policies, path):
    tenant = await make_tenant(with_policies)
    async with browsing(with_policies) as browser:
        await browser.open(path.format(slug=tenant.slug))
        assert browser.reading.links[-2:] == [PRIVACY, TERMS]


@pytest.mark.parametrize("path", ["/account", "/workspaces", "/{slug}/customers"])
async def test_users_find_the_policies(with_policies, path):
    tenant = await make_tenant(with_policies)
    async with signed_in(with_policies, tenant) as browser:
        await browser.open(path.format(slug=tenant.slug))
        assert browser.reading.links[-2:] == [PRIVACY, TERMS]


async def test_without_the_settings_there_is_no_place_for_them(browser):
    await browser.open("/sign-up")
    assert "Policies" not in browser.page.text
