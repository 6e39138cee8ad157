"""A local object store in a directory of its own."""

import pytest

from tests.storage.uploads import store_in


@pytest.fixture
def store(tmp_path):
    return store_in(tmp_path)
