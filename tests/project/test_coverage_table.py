"""`make coverage`: its table, and that no worker is missing in it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.project.coverage_table import table

ROOT = Path(__file__).parents[2]
PRODUCT = """
def chosen(which):
    if which:
        return 1
    return 2
"""
TESTS = """
import pytest

from product import chosen

@pytest.mark.parametrize("which", [True, False])
def test_each(which):
    assert chosen(which)
"""
# As on a machine on which ten seconds are not enough.
IMPATIENT = """
from xdist.workermanage import NodeManager

NodeManager.EXIT_TIMEOUT = 0.001
"""


def file(branches: int, covered: int) -> dict[str, dict[str, int]]:
    return {"summary": {"num_branches": branches, "covered_branches": covered}}


def test_branches_are_added_up_by_package() -> None:
    files = {
        "storage/rows/rows.py": file(10, 8),
        "storage/rows/ordering.py": file(10, 9),
        "gateway/web/records/kit/forms.py": file(20, 20),
        "schema/errors.py": file(0, 0),
    }
    assert list(table({"files": files}))[2:] == [
        "| gateway/web | 20 | 100.0% |",
        "| schema | 0 | - |",
        "| storage/rows | 20 | 85.0% |",
        "| all | 40 | 92.5% |",
    ]


def test_a_worker_that_is_killed_once_it_is_done_has_written_what_it_covered(tmp_path: Path) -> None:
    files = {"product": PRODUCT, "test_product": TESTS, "impatient": IMPATIENT}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    settings = "[run]\nbranch = true\nparallel = true\npatch = subprocess\ninclude = product.py\n"
    (tmp_path / ".coveragerc").write_text(settings)
    # Under `make coverage`, none of what it has written so far may be taken for this run's.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    environment |= {"PYTHONPATH": str(ROOT), "PYTEST_DEBUG_TEMPROOT": str(tmp_path)}
    plugins = ["-p", "no:cacheprovider", "-p", "impatient", "-p", "tests.support.plugins.covered"]

    def run(*arguments: str) -> None:
        command = [sys.executable, "-m", "coverage", *arguments]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)

    run("run", "-m", "pytest", "-n", "1", *plugins)
    run("combine")
    run("json", "-o", "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["totals"]["covered_branches"] == 2
