"""Real databases for the whole run, a workspace of its own for each test, one caller per surface."""

import gc
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from playwright.async_api import Browser
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlalchemy import ColumnElement, select

from gateway.cli.kit.database import OBJECTS_BETWEEN_COLLECTIONS
from gateway.rate_limits.moving_windows import MemoryWindows
from oauth.sign_in import passwords
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.browsers.browsing import Browsing, browsing, signed_in
from tests.support.browsers.in_browser import launched
from tests.support.callers.surfaces import GraphQL, Rest, Surface
from tests.support.databases.ledgers import wrong_totals
from tests.support.databases.templates import asynchronous, postgresql_server, sqlite_file
from tests.support.servers.citus import Cluster, cluster, every_test_is_on_a_cluster
from tests.support.servers.gateways import Gateway, Tenant, bearer, make_tenant, run_gateway
from tests.support.servers.pooler import every_test_is_pooled, pooler, use_poolers
from tests.support.statements.statement_check import StatementCheck, checking

pytest_plugins = [
    "tests.support.plugins.covered",
    "tests.support.plugins.long_tests",
    "tests.support.plugins.matrix",
    "tests.support.plugins.order",
    "tests.support.plugins.other_clock",
    "tests.support.plugins.own_folder",
    "tests.support.plugins.process_state",
    "tests.support.plugins.time_limits",
    "tests.support.plugins.times",
    "tests.support.plugins.until",
]

# Without bytecode, each command that a test starts would compile every library.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_workspaces = table_of(WorkspaceRow)


def pytest_collection() -> None:
    """What is imported and collected stays: a search for garbage would look through all of it each time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()
    gc.collect()
    gc.freeze()
    # As in a command: Python's default took a twelfth of the tests' time.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)


def _is_present(workspace_id: ColumnElement[UUID]) -> ColumnElement[bool]:
    """A deleted workspace is removed in pieces: its totals may go before its rows."""
    return workspace_id.in_(select(_workspaces.c.id).where(_workspaces.c.deleted_at.is_(None)))


@pytest.fixture(scope="session", autouse=True)
def hash_passwords_cheaply() -> Iterator[None]:
    """Argon2 is slow on purpose; commands and servers in other processes hash as they do for users."""
    with pytest.MonkeyPatch.context() as patch:
        cheap = Argon2Hasher(time_cost=1, memory_cost=64, parallelism=1)
        patch.setattr(passwords, "_hasher", PasswordHash((cheap,)))
        yield


@pytest.fixture(scope="session", autouse=True)
def windows_of_rate_limits_do_not_end() -> Iterator[None]:
    """However long a test takes, what it has used of a budget is used; tests of windows have own clocks."""
    reads = count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryWindows, "now", lambda _: next(reads) / 1_000_000)
        yield


@pytest.fixture(scope="session")
def statement_check() -> Iterator[StatementCheck]:
    """What looks at every statement on PostgreSQL."""
    with checking() as check:
        yield check


@pytest.fixture(autouse=True)
def statements_name_workspaces(statement_check: StatementCheck) -> Iterator[None]:
    """Fail the test during which a statement, be it of a background task, does not name its workspaces."""
    yield
    found = statement_check.take()
    assert not found, "\n\n".join(found)


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """PostgreSQL itself, for tests of its connections."""
    server = postgresql_server(tmp_path_factory.mktemp("postgresql"))
    yield asynchronous(server.get_uri())
    server.cleanup()


@pytest.fixture(scope="session")
def citus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of databases."""
    with cluster(tmp_path_factory.mktemp("cluster")) as nodes:
        yield nodes


@pytest.fixture(scope="session")
def cluster_url(citus: Cluster) -> str:
    """A database that is distributed over several nodes."""
    return citus.url


@pytest.fixture(scope="session")
def postgresql_url(request: pytest.FixtureRequest, server_url: str) -> Iterator[str]:
    """PostgreSQL, through a pooler or as a cluster if every test is to use one."""
    if every_test_is_on_a_cluster():
        url: str = request.getfixturevalue("cluster_url")
        yield url
        return
    if not every_test_is_pooled():
        yield server_url
        return
    with pooler(server_url) as url, pytest.MonkeyPatch.context() as patch:
        use_poolers(patch)
        yield url


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{sqlite_file(tmp_path_factory.mktemp('sqlite'))}"
    url: str = request.getfixturevalue("postgresql_url")
    return url


@pytest_asyncio.fixture(scope="session")
async def gateway(
    database_url: str, statement_check: StatementCheck, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Gateway]:
    async for running in run_gateway(database_url, tmp_path_factory.mktemp("objects")):
        yield running
        found = statement_check.take()
        async with running.database.snapshot() as connection:
            # No test has changed rows, by whatever way, without counting them.
            wrong = await wrong_totals(connection, _is_present)
            assert not wrong, wrong
        # The comparison is of all workspaces: the next test must not answer for its statements.
        statement_check.take()
        assert not found, "\n\n".join(found)


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
def graphql(gateway: Gateway, tenant: Tenant) -> Callable[..., Awaitable[Any]]:
    """Send a document with the tenant's token, or with another; gives the answer's JSON."""

    async def send(document: str, token: str = tenant.token, **variables: Any) -> Any:
        body = {"query": document, "variables": variables}
        return (await gateway.client.post("/graphql", json=body, headers=bearer(token))).json()

    return send


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
