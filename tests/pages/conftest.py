"""Callers beside the pages, which make and read what pages show."""

from uuid import uuid4

import pytest

from tests.support.callers.surfaces import Rest
from tests.support.tenants.dashboards import make_activity


@pytest.fixture
def owner(signed_in_browser):
    """The browser of the workspace's founder."""
    return signed_in_browser


@pytest.fixture
def api(gateway, tenant):
    """A REST caller with a personal token of the browser's user."""
    return Rest(gateway.client, gateway.app, tenant.personal_token)


@pytest.fixture
async def customer(rest):
    return await rest.create_customer(data={"email": f"ada-{uuid4().hex}@example.com", "name": "Ada"})


@pytest.fixture
async def activity(rest):
    return await make_activity(rest)


@pytest.fixture
def path(tenant):
    """The path of the workspace's dashboard."""
    return f"/{tenant.slug}/dashboard"
