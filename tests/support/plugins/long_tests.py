"""A plugin of pytest: long tests come first; `--long-part=4` runs a quarter of them, which the seed draws.

A worker that ended with a long test would keep the others waiting.
"""

from zlib import crc32

import pytest
from _pytest.terminal import TerminalReporter


def pytest_addoption(parser: pytest.Parser) -> None:
    help = "Of the tests marked `long`, run one in N; the seed draws which."
    parser.addoption("--long-part", help=help, metavar="N", type=int, default=1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the long tests that are not drawn, and begin with the others of them."""
    left_out = [item for item in items if _is_long(item) and not _is_drawn(item, config)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _is_long(item) or _is_drawn(item, config)]
    items.sort(key=lambda item: not _is_long(item))


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    part = config.getoption("long_part")
    if part > 1:
        terminalreporter.write_line(f"Of the long tests, one in {part} ran; `make test-all` runs all.")


def _is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


def _is_drawn(item: pytest.Item, config: pytest.Config) -> bool:
    seed = config.getoption("randomly_seed", None)
    return crc32(f"{seed} {item.nodeid}".encode()) % int(config.getoption("long_part")) == 0
