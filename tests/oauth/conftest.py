"""A confidential and a public application, each new for each test."""

import pytest
import pytest_asyncio

from tests.support.tenants.applications import Application, make_application


@pytest_asyncio.fixture
async def confidential(gateway) -> Application:
    return await make_application(gateway)


@pytest_asyncio.fixture
async def public(gateway) -> Application:
    return await make_application(gateway, is_public=True)


@pytest.fixture(params=["confidential", "public"])
def application(request) -> Application:
    """Each kind of client in turn."""
    return request.getfixturevalue(request.param)
