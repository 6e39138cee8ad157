"""Whom codes are mailed to, and who asks for them."""

from uuid import uuid4

import pytest

from tests.support.mails.portal_codes import Entrance


@pytest.fixture
def address():
    return f"ada-{uuid4().hex}@example.com"


@pytest.fixture
def entrance(anyone, gateway, tenant):
    return Entrance(anyone, gateway, tenant)


@pytest.fixture
async def customer(surface, address):
    return await surface.create_customer(data={"email": address, "name": "Ada"})


@pytest.fixture
async def team(surface, address, member_model):
    """A team whose owner has an address of its own, and a second member."""
    data = {"email": address, "type": "team", "owner": {"email": f"owner-{address}"}}
    made = await surface.create_customer(data=data)
    await surface.create_member(data={"customer_id": made["id"], "email": f"bo-{address}"})
    return await surface.get_customer(id=made["id"])
