"""Which tests begin when a run may not begin one after a moment."""

import math

import pytest

from tests.project.inner_runs import WITHOUT
from tests.support.plugins import matrix, until

CONFTEST = """
import pytest

@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request):
    return request.param
"""
NEAR = """
import pytest

@pytest.fixture(scope="module")
def shared():
    yield
    assert not "ended"

def test_row(database_url):
    pass

def test_near(shared):
    pass

def test_near_too(shared):
    pass
"""
FAR = """
def test_far():
    pass
"""


class Running:
    """Notes which tests ran; time is up when `last` has run."""

    def __init__(self, patch: pytest.MonkeyPatch, last: str) -> None:
        self._patch, self._last = patch, last
        self.names: list[str] = []

    def pytest_runtest_logfinish(self, location: tuple[str, int, str]) -> None:
        self.names.append(location[2])
        if location[2] == self._last:
            self._patch.setattr(until, "monotonic", lambda: math.inf)


@pytest.fixture
def run(tmp_path, monkeypatch):
    files = {"conftest": CONFTEST, "test_a_far_module": FAR, "test_near_module": NEAR}
    for name, source in files.items():
        (tmp_path / f"{name}.py").write_text(source)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = both_databases\n")
    monkeypatch.chdir(tmp_path)

    def run(*options: str, last: str = "") -> list[str]:
        running = Running(monkeypatch, last)
        files = ["test_near_module.py", "test_a_far_module.py"]
        pytest.main(["-q", "--import-mode=importlib", *WITHOUT, *options, *files], [running, matrix, until])
        return running.names

    return run


def test_files_keep_their_order_and_postgresql_is_last(run):
    *first, far, last = run("--begin-until=1e12")
    assert set(first) == {"test_row[sqlite]", "test_near", "test_near_too"}
    assert (far, last) == ("test_far", "test_row[postgresql]")


def test_what_does_not_begin_in_time_is_counted(run, capsys):
    assert "test_row[postgresql]" not in run("--begin-until=1e12", last="test_far")
    assert "Time was up before 1 of these 5 tests began." in capsys.readouterr().out


def test_nothing_is_said_if_all_began(run, capsys):
    run("--begin-until=1e12")
    assert "Time was up" not in capsys.readouterr().out


def test_the_first_test_begins_however_late_and_the_end_of_what_it_shares_can_fail(run, capsys):
    assert run("--begin-until=0", "-knear and not row and not far") in (["test_near"], ["test_near_too"])
    said = capsys.readouterr().out
    assert "Time was up before 1 of these 2 tests began." in said
    assert 'assert not "ended"' in said
    assert "1 passed" in said
    assert "1 error" in said
