"""docs/threats.md names the test that tries each attack; a page that names tests which are gone would lie."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threats.md").read_text()
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| attacker ")]


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, functions))


def test_a_test_that_the_page_names_exists():
    named = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
    faults = [f"{path}::{name}" for path, name in named if name not in names_in(path)]
    assert not faults, "\n".join(faults)


def test_every_attack_has_a_test():
    assert len(ROWS) > 150
    assert not [row for row in ROWS if not re.search(r"`tests/[\w/]+\.py::test_\w+`", row)]
