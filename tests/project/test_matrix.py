"""Which combinations of database and surface a run has: fewer than all, but each case meets each of them."""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from tests.project.inner_runs import WITHOUT
from tests.support.plugins import matrix

CONFTEST = """
import pytest
from tests.support.callers.surfaces import GraphQL, Rest

@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request):
    return request.param

@pytest.fixture(params=[GraphQL, Rest], ids=["graphql", "rest"])
def caller(request, database_url):
    return request.param
"""
MODULE = """
import pytest

each = pytest.mark.parametrize("number", range(20))

@each
def test_call(number, caller):
    pass

@each
def test_row(number, database_url):
    pass

@each
@pytest.mark.both_databases
def test_dialect(number, database_url):
    pass

@each
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_lock(number, database_url):
    pass
"""
BOTH = frozenset({("sqlite", None), ("postgresql", None)})
EACH_ONCE = {
    frozenset({("sqlite", "graphql"), ("postgresql", "rest")}),
    frozenset({("sqlite", "rest"), ("postgresql", "graphql")}),
}
EVERY = frozenset.union(*EACH_ONCE)

Met = frozenset[tuple[str, str | None]]


class Collected:
    """What each case of a function would meet."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.cases: dict[tuple[str, int], set[tuple[str, str | None]]] = defaultdict(set)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            surface = item.callspec.params.get("caller")
            met = item.callspec.params["database_url"], surface and surface.name
            self.nodes.append(item.nodeid)
            self.cases[item.originalname, item.callspec.params["number"]].add(met)

    def met_in(self, function: str) -> set[Met]:
        return {frozenset(met) for (name, _), met in self.cases.items() if name == function}


@pytest.fixture
def collect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Collected]:
    """Collect a suite with the same module in a directory of one database, `one`, and in another, `two`."""
    # Python keeps modules by name: no other suite of this process has these.
    suite = f"suite_{uuid4().hex}"
    for directory in ("one", "two"):
        folder = tmp_path / suite / directory
        folder.mkdir(parents=True)
        (folder / "conftest.py").write_text(CONFTEST)
        (folder / "test_module.py").write_text(MODULE)
    (tmp_path / "pytest.ini").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MATRIX", raising=False)
    monkeypatch.setattr(matrix, "ONE_DATABASE", {f"{suite}/one"})

    def collect(place: str, *arguments: str) -> Collected:
        collected = Collected()
        options = ["--collect-only", "-qq", "--import-mode=importlib", *WITHOUT]
        status = pytest.main([*options, f"{suite}/{place}", *arguments], [collected, matrix])
        assert status == pytest.ExitCode.OK
        return collected

    return collect


@pytest.mark.parametrize("directory", ["one", "two"])
def test_a_case_meets_each_database_and_each_surface_once(collect, directory):
    collected = collect(directory)
    assert collected.met_in("test_call") == EACH_ONCE
    assert len(collected.cases) == 80


def test_a_case_of_the_database_alone_runs_on_one_where_its_directory_says_so(collect):
    assert collect("two").met_in("test_row") == {BOTH}
    one = collect("one")
    assert one.met_in("test_row") == {frozenset({each}) for each in BOTH}
    assert one.met_in("test_dialect") == {BOTH}
    assert one.met_in("test_lock") == {frozenset({("postgresql", None)})}


def test_the_whole_matrix_runs_when_it_is_asked_for(collect, monkeypatch):
    monkeypatch.setenv("MATRIX", "full")
    collected = collect("one")
    assert collected.met_in("test_call") == {EVERY}
    assert collected.met_in("test_row") == {BOTH}


def test_a_narrower_selection_runs_all_of_what_it_names(collect):
    collected = collect("one", "-k", "postgresql")
    assert collected.met_in("test_call") == {frozenset({("postgresql", "graphql"), ("postgresql", "rest")})}
    assert collected.met_in("test_row") == {frozenset({("postgresql", None)})}


def test_a_node_id_runs_as_it_is_written(collect, monkeypatch):
    monkeypatch.setenv("MATRIX", "full")
    nodes = [node for node in collect("one").nodes if "test_call[" in node and "-7" in node]
    assert len(nodes) == 4
    monkeypatch.delenv("MATRIX")
    assert [collect(node.partition("/")[2]).nodes for node in nodes] == [[node] for node in nodes]
