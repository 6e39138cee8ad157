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
    "gateway/web/templates/sign_in.html": "{{ asset('sign_in.js') }}",
    "gateway/web/static/sign_in.js": "",
    "gateway/web/entrance/entrance.py": "from schema.shares import (\n    shares,\n)\nrender('sign_in.html')",
    "tests/shares/test_shares.py": "from tests.support.callers.world import World",
    "tests/portal/test_portal.py": "",
    "tests/events/test_events.py": "",
    "tests/pages/test_entrance_in_browser.py": "",
    "tests/pages/test_entrance.py": "",
    "tests/storage/test_rows.py": "import storage.rows.rows",
    "tests/cli/test_rows.py": "import storage.rows.rows",
    "tests/pages/test_shares_in_browser.py": "import schema.shares.shares",
}
SHARES = ["shares/test_shares", "pages/test_shares_in_browser"]
ROWS = ["storage/test_rows", "cli/test_rows"]


@pytest.mark.parametrize(
    ("changed", "nearest"),
    [
        ("resolvers/shares/shares.py", [*SHARES, "portal/test_portal"]),
        ("schema/shares/shares.py", [*SHARES, "pages/test_entrance", "portal/test_portal"]),
        (
            "storage/rows/rows.py",
            [*ROWS, "events/test_events", "shares/test_shares", "pages/test_entrance"],
        ),
        ("tests/support/callers/world.py", ["shares/test_shares"]),
        ("tests/cli/test_rows.py", ["cli/test_rows"]),
        ("gateway/web/static/sign_in.js", ["pages/test_entrance", "pages/test_entrance_in_browser"]),
        ("docs/architecture.md", []),
    ],
)
def test_tests_are_chosen_by_imports_and_by_names_the_nearest_first(changed, nearest):
    tests = quick.nearest_tests([changed], TREE.keys(), TREE.__getitem__)
    assert tests == [f"tests/{name}.py" for name in nearest]


def test_what_nearly_everything_imports_runs_its_own_tests_first():
    many = {f"tests/early{number}/test_early.py": "import storage.rows.rows" for number in range(99)}
    tree = many | TREE
    tests = quick.nearest_tests(["storage/rows/rows.py"], tree.keys(), tree.__getitem__)
    assert tests[0] == "tests/storage/test_rows.py"
    assert len(tests) > 99


def test_tests_known_to_be_slow_exist():
    assert [name for name in quick.SLOW if not (quick.ROOT / name).exists()] == []
