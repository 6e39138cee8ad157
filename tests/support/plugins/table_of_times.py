"""`python -m tests.support.plugins.table_of_times FILE` prints tests' times by directory as Markdown."""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

MOST_COSTLY = 25


def main() -> None:
    lines = (json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines())
    sys.stdout.write("\n".join(table(list(lines))) + "\n")


def table(tests: list[dict[str, Any]]) -> Iterator[str]:
    """By directory, the most costly first, then the tests that used most processor time."""
    by_directory: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for test in tests:
        by_directory[test["test"].partition("::")[0].rpartition("/")[0]].append(test)
    whole = sum(test["processor"] for test in tests) or 1
    yield "| directory | tests | processor seconds | waiting seconds | share of processor |"
    yield "|---|--:|--:|--:|--:|"
    costly = sorted(by_directory.items(), key=lambda entry: -_sum(entry[1], "processor"))
    for directory, own in [*costly, ("all", tests)]:
        processor, waiting = _sum(own, "processor"), _sum(own, "waiting")
        yield f"| {directory} | {len(own):,} | {processor:,.0f} | {waiting:,.0f} | {processor / whole:.1%} |"
    yield ""
    yield "| test | processor seconds | waiting seconds | of these, set-up |"
    yield "|---|--:|--:|--:|"
    for test in sorted(tests, key=lambda each: -each["processor"])[:MOST_COSTLY]:
        figures = " | ".join(f"{test[name]:.1f}" for name in ("processor", "waiting", "set_up"))
        yield f"| `{test['test'].replace('|', '¦')}` | {figures} |"


def _sum(tests: Iterable[dict[str, Any]], name: str) -> float:
    return sum(float(test[name]) for test in tests)


if __name__ == "__main__":
    main()
