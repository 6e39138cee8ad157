"""`make quick` runs the tests of what changed and of what imports it."""

import pytest

from tests.project import quick

# Each module with what it says.
TREE = {
    "storage/rows/rows.py": "",
    "schema/shares/shares.py": "from storage.rows.rows import read",
    "resolvers/shares/shares.py": "from schema.shares.shares import Share",
    "resolvers/portal/portal.py": "from resolvers.shares.shares import get_share",
    "resolvers/events/events.py": "from storage.rows import rows",
    "tests/support/callers/world.py": "",
    "tests/shares/test_shares.py": "from tests.support.callers.world import World",
    "tests/portal/test_portal.py": "",
    "tests/events/test_events.py": "",
    "tests/storage/test_rows.py": "import storage.rows.rows",
    "tests/cli/test_rows.py": "import storage.rows.rows",
    "tests/pages/test_shares_in_browser.py": "import schema.shares.shares",
}


@pytest.mark.parametrize(
    ("changed", "directories"),
    [
        ("resolvers/shares/shares.py", {"shares", "portal"}),
        ("schema/shares/shares.py", {"shares"}),
        ("storage/rows/rows.py", {"storage", "shares", "events"}),
        ("tests/support/callers/world.py", {"shares"}),
        ("tests/cli/test_rows.py", {"cli"}),
        ("docs/architecture.md", set()),
    ],
)
def test_tests_are_chosen_by_imports_and_by_names(changed, directories):
    tests = quick.tests_of([changed], TREE.keys(), TREE.__getitem__)
    assert {name.split("/")[1] for name in tests} == directories


def test_what_nearly_everything_imports_runs_only_its_own_tests():
    many = {f"resolvers/noun{number}/noun.py": "import storage.rows.rows" for number in range(9)}
    nouns = {f"tests/noun{number}/test_noun.py": "" for number in range(9)}
    tree = TREE | many | nouns
    assert quick.tests_of(["storage/rows/rows.py"], tree.keys(), tree.__getitem__) == [
        "tests/storage/test_rows.py"
    ]
