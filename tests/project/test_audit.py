"""The audit of dependencies: a vulnerability fails it, and a machine without an index does not."""

import os
import sys
from time import time

import pytest

from tests.project import audit

CLEAN = {"name": "jinja2", "version": "3.1.6", "vulns": []}
UNKNOWN = {"name": "jinja2", "skip_reason": "Dependency not found on PyPI"}
VULNERABLE = {
    "name": "jinja2",
    "version": "2.10",
    "vulns": [{"id": "PYSEC-2019-217", "fix_versions": ["2.10.1"]}],
}
UNFIXED = {"name": "left-pad", "version": "1.0", "vulns": [{"id": "GHSA-1", "fix_versions": []}]}


@pytest.fixture
def audited(monkeypatch, tmp_path, capsys):
    """The exit code and the words of an audit for which the index has these reports."""
    lock = tmp_path / "requirements.lock"
    lock.write_text("jinja2==3.1.6\nmarkupsafe==3.0.3\n")
    asked = []

    def run(*dependencies, report=True):
        asked.clear()

        def ask(requirements):
            asked.append(requirements)
            return {"dependencies": list(dependencies)} if report else None

        # There are no advisories on a machine without a network, and none that stay.
        monkeypatch.setattr(audit, "ask", ask)
        code = audit.main(lock, tmp_path / "audited")
        return code, capsys.readouterr().out, len(asked)

    run.lock, run.answered = lock, tmp_path / "audited"
    return run


def test_a_vulnerability_fails_and_is_named_with_its_fix(audited):
    code, words, _ = audited(CLEAN, VULNERABLE, UNFIXED)
    assert code == 1
    assert words.splitlines() == [
        "jinja2 2.10 has PYSEC-2019-217: fixed in 2.10.1",
        "left-pad 1.0 has GHSA-1: no fix yet",
    ]
    assert audited(VULNERABLE)[0] == 1


def test_without_an_index_it_says_that_it_was_skipped_and_asks_again_next_time(audited):
    assert audited(UNKNOWN) == (0, f"{audit.SKIPPED}\n", 1)
    assert audited(report=False) == (0, f"{audit.SKIPPED}\n", 1)
    assert audited(VULNERABLE)[0] == 1


def test_an_answer_counts_for_a_day_and_for_one_lock_file(audited):
    assert audited(CLEAN)[::2] == (0, 2)
    assert audited(VULNERABLE)[::2] == (0, 0)
    yesterday = time() - audit.DAY
    os.utime(audited.answered, (yesterday, yesterday))
    assert audited(VULNERABLE)[::2] == (1, 2)
    os.utime(audited.answered)
    audited.lock.write_text("jinja2==2.10\n")
    assert audited(VULNERABLE)[0] == 1


def test_an_index_that_never_answers_is_not_waited_for(monkeypatch, tmp_path, capsys):
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 3600\n")
    slow.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(slow))
    monkeypatch.setattr(audit, "SECONDS", 0.2)
    assert audit.main(answered=tmp_path / "audited") == 0
    assert audit.SKIPPED in capsys.readouterr().out
