"""Which Node runs the npm packages of the tests."""

import pytest

from tests.support.clients.npm import FIRST_NODE, is_new_enough


@pytest.mark.parametrize(
    ("version", "runs"),
    [
        (f"v{FIRST_NODE}.0.0\n", True),
        ("v24.1.0", True),
        (f"v{FIRST_NODE - 1}.9.1", False),
        ("v8.17.0", False),
        ("", False),
    ],
)
def test_an_older_node_does_not_run_the_packages(version, runs):
    assert is_new_enough(version) is runs
