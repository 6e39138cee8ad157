"""Fixtures of the tests of both surfaces."""

import pytest_asyncio

from storage.usage import usage
from tests.support.measures.usage_reader import NOON, Reader


@pytest_asyncio.fixture
async def reader(gateway, caller, tenant, monkeypatch) -> Reader:
    # Midnight never comes between two steps of a test.
    monkeypatch.setattr(usage, "now", lambda: NOON)
    # A user's own token is not counted, so that reading the usage does not change it.
    return Reader(gateway, caller(tenant.personal_token), tenant)
