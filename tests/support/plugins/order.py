"""A plugin of pytest: the order of the tests is drawn, and the seed that repeats it is told at the end.

pytest-randomly draws the order of modules and of the tests in each, so that the fixtures of a module are set
up once; pytest then puts tests of one database side by side.
"""

import pytest
from _pytest.terminal import TerminalReporter


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    seed = config.getoption("randomly_seed", None)
    if isinstance(seed, int) and config.getoption("begin_until", None) is None:
        terminalreporter.write_line(f"Repeat this order: make test SEED={seed}")
