"""A browser where nobody is signed in yet."""

import pytest_asyncio

from tests.support.browsing import browsing


@pytest_asyncio.fixture
async def browser(gateway):
    async with browsing(gateway) as browser:
        yield browser
