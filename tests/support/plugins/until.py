"""A plugin of pytest: `--begin-until=MOMENT` begins no test after it, and keeps files in the order given.

The moment is one of the monotonic clock, which all processes of a machine share. The first test of a process
always begins. The summary counts the tests that did not.
"""

from time import monotonic

import pytest
from _pytest.terminal import TerminalReporter

from tests.support.plugins.matrix import DATABASES, database_of

# Tests that need these start a server of PostgreSQL, which takes seconds.
_SERVERS = {"server_url", "postgresql_url", "cluster_url", "citus"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--begin-until", type=float, help="Begin no test after this moment.", metavar="MOMENT")


def pytest_configure(config: pytest.Config) -> None:
    deadline: float | None = config.getoption("--begin-until")
    if deadline is not None:
        config.pluginmanager.register(_Until(config, deadline))


class _Until:
    def __init__(self, config: pytest.Config, deadline: float) -> None:
        self._order = {config.rootpath / name: number for number, name in enumerate(config.args)}
        self._deadline = deadline
        self._chosen: set[str] = set()
        self._begun: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """After the order was drawn: tests of PostgreSQL last, then files as they were given."""
        items.sort(key=self._place)

    def _place(self, item: pytest.Item) -> tuple[bool, int]:
        needs_server = isinstance(item, pytest.Function) and (
            database_of(item) == DATABASES.index("postgresql") or not _SERVERS.isdisjoint(item.fixturenames)
        )
        return needs_server, self._order.get(item.path, len(self._order))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._chosen.update(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._chosen.update(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """`True` tells pytest that the test is done."""
        if not self._begun or monotonic() <= self._deadline:
            return None
        _end_shared_fixtures(item)
        return True

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._begun.add(nodeid)

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        not_begun = len(self._chosen - self._begun)
        if not_begun and monotonic() > self._deadline:
            chosen = len(self._chosen)
            terminalreporter.write_line(f"Time was up before {not_begun} of these {chosen} tests began.")


def _end_shared_fixtures(item: pytest.Item) -> None:
    """End what the last test left to this one; pytest itself would not report a failure of that.

    Nothing is left after the first call.
    """
    ended = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(None), when="teardown")
    if ended.excinfo is not None:
        report = item.ihook.pytest_runtest_makereport(item=item, call=ended)
        item.ihook.pytest_runtest_logreport(report=report)
