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
async def sale(rest, customer):
    """A session of a customer with a payment of ¥1,900."""
    share = await rest.create_share(data={"name": "Field guide", "prices": [{"amount_type": "free"}]})
    ids = {"share_id": share["id"], "customer_id": customer["id"]}
    session = await rest.create_file_share_session(
        data={"file_size_bytes": 4200, "price_amount": 1900, "price_currency": "jpy", **ids}
    )
    data = {"amount": 1900, "currency": "jpy", "platform_fee": 90}
    return await rest.record_payment(id=session["id"], data=data)


@pytest.fixture
async def activity(rest):
    return await make_activity(rest)


@pytest.fixture
def path(tenant):
    """The path of the workspace's dashboard."""
    return f"/{tenant.slug}/dashboard"
