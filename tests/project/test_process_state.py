"""A test that changes what all tests share fails itself, and not one after it."""

import logging

import pytest

from tests.project.inner_runs import WITHOUT
from tests.support.plugins import process_state

MODULE = """
import logging
import os


def test_changes_the_environment():
    os.environ["LEFT_BY_A_TEST"] = "1"


def test_disables_a_logger():
    logging.getLogger("left.by.a.test").disabled = True


def test_puts_all_back(monkeypatch):
    monkeypatch.setenv("NOT_LEFT", "1")
    monkeypatch.chdir("/")
"""


class Failed:
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.texts[f"{report.when} of {report.nodeid.rpartition('::')[2]}"] = str(report.longrepr)


def test_what_a_test_leaves_changed_fails_at_its_end_by_name(tmp_path, monkeypatch):
    (tmp_path / "test_leaving.py").write_text(MODULE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(tmp_path)
    failed = Failed()
    options = ["-qq", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:randomly", *WITHOUT]
    with monkeypatch.context() as own:
        # Set, so that it is put back.
        own.setenv("LEFT_BY_A_TEST", "0")
        pytest.main(options, [failed, process_state])
    del logging.root.manager.loggerDict["left.by.a.test"]
    assert set(failed.texts) == {
        "teardown of test_changes_the_environment",
        "teardown of test_disables_a_logger",
    }
    assert "left changed: the environment" in failed.texts["teardown of test_changes_the_environment"]
    assert "left changed: disabled loggers" in failed.texts["teardown of test_disables_a_logger"]
