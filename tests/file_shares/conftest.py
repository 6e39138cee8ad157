"""A free share, and a history of sessions about it."""

import pytest

from tests.support.tenants.file_shares import FREE, at


@pytest.fixture
async def share(surface):
    return await surface.create_share(data={"name": "Report", "prices": [{"amount_type": "free"}]})


@pytest.fixture
async def history(surface, share):
    """Five sessions a minute apart; the second is of a share, the third of a customer, the fourth expired."""
    customer = await surface.create_customer(data={"email": "ada@example.com"})
    about = [{}, {"share_id": share["id"]}, {"customer_id": customer["id"]}, {}, {}]
    sessions = [
        await surface.create_file_share_session(data=FREE | {"created_at": at(minute)} | values)
        for minute, values in enumerate(about)
    ]
    sessions[3] = await surface.expire_file_share_session(id=sessions[3]["id"], data={"at": at(9)})
    return sessions
