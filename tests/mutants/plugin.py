"""A plugin of pytest: which tests reach which site, or which of these fail when the site is changed."""

import builtins
import json
import os
import sys
import threading
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from tests.mutants.sites import ROOT, SWITCH, Site, compiled_with, draw

# A test that goes on for ever is ended by its time-out, unless it is beyond the reach of signals.
SECONDS_FOR_A_SITE = 1_800

_plan: dict[str, Any] = json.loads(Path(os.environ["MUTANTS_PLAN"]).read_text())
_reached: set[int] = set()
_active: list[int] = []


def _switch(number: int) -> bool:
    _reached.add(number)
    return number in _active


class _Loader(SourceFileLoader):
    sites: list[Site]

    def get_code(self, fullname: str) -> CodeType:
        return compile(compiled_with(Path(self.path), self.sites), self.path, "exec")


class _Finder(MetaPathFinder):
    def __init__(self, sites: Sequence[Site]) -> None:
        self._sites: dict[str, list[Site]] = {}
        for site in sites:
            self._sites.setdefault(str(ROOT / site.path), []).append(site)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin in self._sites:
            spec.loader = _Loader(fullname, spec.origin)
            spec.loader.sites = self._sites[spec.origin]
        return spec


setattr(builtins, SWITCH, _switch)
sys.meta_path.insert(0, _Finder(draw(_plan["count"], _plan["seed"])))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "tests" in _plan:
        needed = {id for ids in _plan["tests"].values() for id in ids}
        items[:] = [item for item in items if item.nodeid in needed]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    _reached.clear()
    result = yield
    if "tests" not in _plan:
        _note({"test": item.nodeid, "reaches": sorted(_reached)})
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.append(report.nodeid)
    if report.when == "call" and "tests" not in _plan:
        _note({"test": report.nodeid, "seconds": report.duration, "passed": report.passed})


_failed: list[str] = []


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """For each site, change it in a process of its own and run its tests until one fails."""
    if "tests" not in _plan:
        return None
    items = {item.nodeid: item for item in session.items}
    for number, ids in _plan["tests"].items():
        chosen = [items[id] for id in ids if id in items]
        child = os.fork()
        if child == 0:
            os.setsid()
            # A changed function may never end.
            watch = threading.Timer(SECONDS_FOR_A_SITE, _give_up, [int(number)])
            watch.daemon = True
            watch.start()
            _try(int(number), chosen)
            os._exit(0)
        os.waitpid(child, 0)
    return True


def _try(number: int, items: list[pytest.Item]) -> None:
    _active.append(number)
    caught = None
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if _failed:
            caught = _failed[0]
            break
    if caught is not None:
        # Whatever is shared by tests ends, a database server among it.
        _active.clear()
        item.session._setupstate.teardown_exact(None)
    _note({"site": number, "caught": caught})


def _give_up(number: int) -> None:
    _note({"site": number, "caught": "a test that did not end"})
    os._exit(0)


def _note(line: dict[str, Any]) -> None:
    with Path(_plan["notes"]).open("a") as file:
        file.write(json.dumps(line) + "\n")
