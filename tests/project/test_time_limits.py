"""The run of the tests itself: what hangs is ended, alone, and what each test has used is written down."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.plugins.table_of_times import table

ROOT = Path(__file__).parents[2]
SETTINGS = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = session
asyncio_default_test_loop_scope = session
timeout_func_only = true
"""
HANGING = """
import asyncio
import time

import pytest

@pytest.fixture(scope="session")
async def shared():
    await asyncio.sleep(1.5)
    return asyncio.Lock()


@pytest.mark.timeout(1)
async def test_waits(shared):
    async with shared:
        await asyncio.Event().wait()


async def test_comes_after(shared):
    async with shared:
        pass


@pytest.mark.timeout(1)
def test_blocks():
    time.sleep(3600)
"""


def test_a_test_that_hangs_is_ended_alone_even_if_it_holds_what_others_wait_for(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    (tmp_path / "test_hanging.py").write_text(HANGING)
    plugins = [
        "-p",
        "no:randomly",
        "-p",
        "tests.support.plugins.time_limits",
        "-p",
        "tests.support.plugins.times",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *plugins, "--times=times"],
        cwd=tmp_path,
        # pytest closes its folder to other users, and in this run's folder PostgreSQL would lose its files.
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DEBUG_TEMPROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    outcomes = {
        line.split("::")[1].split()[0]: line.split()[1]
        for line in done.stdout.splitlines()
        if line.startswith("test_hanging.py::")
    }
    assert {name for name, outcome in outcomes.items() if outcome == "PASSED"} == {"test_comes_after"}
    assert len(outcomes) == 3
    times = [json.loads(line) for line in (tmp_path / "times").read_text().splitlines()]
    assert [each["test"].partition("::")[2] for each in times] == list(outcomes)
    assert all(each["waiting"] > each["processor"] > 0 for each in times if "comes_after" not in each["test"])
    assert next(line for line in table(times) if line.startswith("| all | 3 | ")).endswith(" | 100.0% |")
