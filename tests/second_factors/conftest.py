"""Gateways at an https address with a name, where browsers offer passkeys."""

import pyotp
import pytest
import pytest_asyncio

from resolvers.second_factors import totp
from storage.clock import now
from tests.second_factors.acting import signed_in
from tests.support.browsers.browsing import browsing
from tests.support.servers.gateways import make_tenant, run_gateway

ADDRESS = "https://gateway"


@pytest.fixture(autouse=True)
def codes_of_one_moment(monkeypatch):
    """However long a test takes, the code that its app shows is one that the gateway takes."""
    moment = now()
    monkeypatch.setattr(totp, "now", lambda: moment)
    monkeypatch.setattr(pyotp.TOTP, "now", lambda app: app.at(moment))


@pytest_asyncio.fixture(scope="session")
async def safe_gateway(database_url, tmp_path_factory):
    objects = tmp_path_factory.mktemp("objects")
    async for gateway in run_gateway(database_url, objects, base_url=f"{ADDRESS}/api"):
        yield gateway


@pytest_asyncio.fixture
async def owner(safe_gateway):
    """A tenant whose user has no factor yet."""
    return await make_tenant(safe_gateway)


@pytest_asyncio.fixture
async def browser(safe_gateway):
    """A browser where nobody is signed in."""
    async with browsing(safe_gateway, ADDRESS) as browser:
        yield browser


@pytest_asyncio.fixture
async def account(safe_gateway, owner):
    """A browser in which the owner is signed in."""
    async with signed_in(safe_gateway, owner) as browser:
        yield browser
