"""The workspace's founder as a caller."""

import pytest


@pytest.fixture
def owner(surface, tenant):
    """The workspace's founder, with a personal token."""
    return surface.with_token(tenant.personal_token)
