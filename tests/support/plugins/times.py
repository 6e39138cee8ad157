"""A plugin of pytest: `--times=FILE` writes what each test has used, one JSON object a line."""

import json
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_NAME = "times"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", help="Write the times of each test into this file.", metavar="FILE")


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--times")
    if file is None:
        return
    config.pluginmanager.register(_Measuring())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Writing(Path(file)))


class _Measuring:
    """Notes in each process that runs tests what a test has used, as a property of its last report."""

    def __init__(self) -> None:
        self._before: dict[str, float] = {}
        self._set_up_seconds = 0.0
        self._servers = _Servers()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        # What looking at the servers takes is no test's.
        servers = self._servers.last or self._servers.seconds(_directory(item))
        self._before = {"servers": servers, **_own()}
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.when == "setup":
            self._set_up_seconds = call.duration
        if call.when != "teardown":
            return
        after = {**_own(), "servers": self._servers.seconds(_directory(item))}
        grown = {name: max(after[name] - self._before[name], 0) for name in after}
        processor = grown["own"] + grown["children"] + grown["servers"]
        waiting = max(grown["clock"] - processor, 0)
        used = {**grown, "processor": processor, "waiting": waiting, "set_up": self._set_up_seconds}
        item.user_properties.append((_NAME, {name: round(value, 4) for name, value in used.items()}))


class _Writing:
    """Writes the reports that arrive, from this process or from others."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("w")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        used = dict(report.user_properties).get(_NAME)
        if report.when == "teardown" and isinstance(used, dict):
            self._file.write(json.dumps({"test": report.nodeid, **used}) + "\n")

    def pytest_unconfigure(self) -> None:
        self._file.close()


def _own() -> dict[str, float]:
    """Seconds so far: of this process, of children that ended, and by the clock."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "own": time.process_time(),
        "children": children.ru_utime + children.ru_stime,
        "clock": time.perf_counter(),
    }


def _directory(item: pytest.Item) -> str:
    return str(item.config._tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]


class _Servers:
    """The living processes below this one, and PostgreSQL, known by its directory.

    A process that ends hands its time to its parent, who waits for it: the sum stays.
    """

    def __init__(self) -> None:
        # By number and moment of its start: if a process has the directory in its command line.
        self._known: dict[tuple[int, int], bool] = {}
        self.last = 0.0

    def seconds(self, directory: str) -> float:
        """The processor time that they have used so far, which `last` keeps."""
        parents, ticks, roots = {}, {}, {os.getpid()}
        for pid, parent, used, began in _processes():
            parents[pid], ticks[pid] = parent, used
            if self._is_root(pid, began, directory):
                roots.add(pid)
        own = os.getpid()
        self.last = sum(
            ticks[pid] / _TICKS_A_SECOND for pid in parents if pid != own and _descends(pid, parents, roots)
        )
        return self.last

    def _is_root(self, pid: int, began: int, directory: str) -> bool:
        known = self._known.get((pid, began))
        if known is None:
            known = directory in _command_line(pid)
            # One that has just been forked may still execute another program.
            if known or time.clock_gettime(time.CLOCK_BOOTTIME) - began / _TICKS_A_SECOND > 1:
                self._known[pid, began] = known
        return known


def _descends(pid: int, parents: dict[int, int], roots: set[int]) -> bool:
    while pid in parents:
        if pid in roots:
            return True
        pid = parents[pid]
    return False


def _processes() -> Iterator[tuple[int, int, int, int]]:
    """Of each process its number and its parent's, the ticks of it and its ended children, and its start."""
    with os.scandir("/proc") as folders:
        for folder in folders:
            if folder.name.isdigit():
                try:
                    fields = Path(folder, "stat").read_bytes().rpartition(b")")[2].split()
                except (FileNotFoundError, ProcessLookupError):
                    continue
                yield int(folder.name), int(fields[1]), sum(map(int, fields[11:15])), int(fields[19])


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""
