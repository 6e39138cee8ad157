"""`python -m tests.project.coverage_table FILE`: the branches that a run covered, by package, as Markdown.

`FILE` is what `coverage json` wrote. A package is a folder of the product and one below it.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def table(report: Mapping[str, Any]) -> Iterator[str]:
    yield "| package | branches | covered |"
    yield "|---|--:|--:|"
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, file in report["files"].items():
        summary = file["summary"]
        for package in {_package(name), "all"}:
            counts[package][0] += summary["num_branches"]
            counts[package][1] += summary["covered_branches"]
    everything = counts.pop("all", [0, 0])
    for package, (branches, covered) in [*sorted(counts.items()), ("all", everything)]:
        share = f"{covered / branches:.1%}" if branches else "-"
        yield f"| {package} | {branches:,} | {share} |"


def _package(name: str) -> str:
    return "/".join(Path(name).parent.parts[:2])


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in table(json.loads(Path(sys.argv[1]).read_text()))))
