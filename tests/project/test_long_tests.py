"""Which of the long tests a run has."""

import pytest

from tests.project.inner_runs import WITHOUT
from tests.support.plugins import long_tests

MODULE = """
import pytest

each = pytest.mark.parametrize("number", range(40))

@each
def test_short(number):
    pass

@each
@pytest.mark.long
def test_long(number):
    pass
"""


class Collected:
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.names = [item.name for item in session.items]


@pytest.fixture
def collect(tmp_path, monkeypatch):
    (tmp_path / "test_module.py").write_text(MODULE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long\n")
    monkeypatch.chdir(tmp_path)

    def collect(*arguments: str) -> list[str]:
        collected = Collected()
        options = ["--collect-only", "-qq", "--import-mode=importlib", *WITHOUT, *arguments]
        assert pytest.main(options, [collected, long_tests]) == pytest.ExitCode.OK
        return collected.names

    return collect


def test_all_long_tests_run_and_come_first(collect):
    names = collect()
    assert len(names) == 80
    assert all("long" in name for name in names[:40])


def test_a_part_of_them_is_drawn_by_the_seed_and_no_other_test_is_left_out(collect):
    drawn = {seed: collect("--long-part=4", f"--randomly-seed={seed}") for seed in (1, 2)}
    for names in drawn.values():
        assert sum("short" in name for name in names) == 40
        assert 0 < sum("long" in name for name in names) < 20
    assert set(drawn[1]) != set(drawn[2])
    assert drawn[1] == collect("--long-part=4", "--randomly-seed=1")
