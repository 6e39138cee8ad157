"""Every test of files runs on both object stores: the local one on both databases, S3 on PostgreSQL."""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from tests.support.servers.gateways import Gateway, run_gateway
from tests.support.servers.s3_server import S3Server

INSTALLATIONS = [("sqlite", "local"), ("postgresql", "local"), ("postgresql", "s3")]


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    server = S3Server()
    yield server
    server.stop()


@pytest.fixture(scope="session", params=INSTALLATIONS, ids=["-".join(each) for each in INSTALLATIONS])
def installation(request: pytest.FixtureRequest) -> tuple[str, str]:
    pair: tuple[str, str] = request.param
    return pair


@pytest.fixture(scope="session")
def store(installation: tuple[str, str]) -> str:
    """`local` or `s3`."""
    return installation[1]


@pytest.fixture(scope="session")
def database_url(
    request: pytest.FixtureRequest, installation: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> str:
    if installation[0] == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('sqlite')}/duograph.sqlite"
    url: str = request.getfixturevalue("postgresql_url")
    return url


@pytest.fixture(scope="session")
def store_settings(
    request: pytest.FixtureRequest, store: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Settings for a store of its own."""
    if store == "local":
        return {"object_store": str(tmp_path_factory.mktemp("objects"))}
    server: S3Server = request.getfixturevalue("s3_server")
    return server.settings(f"files-{uuid4().hex}")


@pytest_asyncio.fixture(scope="session")
async def gateway(
    database_url: str, store_settings: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Gateway]:
    async for running in run_gateway(database_url, tmp_path_factory.mktemp("unused"), **store_settings):
        yield running
