"""`python -m tests.mutants`: how many small changes of the product its tests notice.

SEED draws COUNT sites in the functions of resolvers/, storage/metrics/ and oauth/. One run of the tests tells
which of them reach which site. Then each site is changed in turn, and its tests run until one fails: those on
SQLite before those on PostgreSQL, the quickest of each file first. Every second test is from a file named
after the same things. Few are tried for each site, and many more for those that these did not notice:
thousands of tests reach what every request passes. WORKERS processes do so side by side. Prints the changes
that no test noticed, and a table by folder.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.mutants.sites import FOLDERS, ROOT, Site, draw

COUNT = int(os.environ.get("COUNT", "200"))
SEED = int(os.environ.get("SEED", "10"))
WORKERS = int(os.environ.get("WORKERS") or os.cpu_count() or 1)
# Tests of these run the gateway in their own process, where a site can be changed.
FOLDERS_OF_TESTS = [
    f"tests/{name}"
    for name in (
        *("answers", "changes", "credentials", "customers", "events", "file_shares", "files"),
        *("gateway", "mail", "metrics", "oauth", "pages", "portal", "second_factors", "shares"),
        *("surfaces", "totals", "webhooks", "workspaces"),
    )
]
# Long, and about whole processes or whole contracts.
LEFT_OUT = [
    "browser",
    "test_crash",
    "test_every_page",
    "test_log_secrecy",
    "test_openapi_fuzz",
    "test_scripts",
]
FEW_TESTS, TRIED_AT_FIRST, MOST_OF_A_DATABASE = 10, 60, 300


def main() -> int:
    sites = draw(COUNT, SEED)
    with tempfile.TemporaryDirectory() as folder:
        print(f"Running the tests to see which of {COUNT} sites they reach", file=sys.stderr)
        tests = _tests_by_site(Path(folder) / "reached", {site.number: site.path for site in sites})
        print(f"Changing each of the {len(tests)} sites that they reach", file=sys.stderr)
        caught = _caught(Path(folder), "few", {n: ids[:TRIED_AT_FIRST] for n, ids in tests.items()})
        more = {n: ids[TRIED_AT_FIRST:] for n, ids in tests.items() if n not in caught}
        print(f"Trying more tests of the {len(more)} that were not noticed", file=sys.stderr)
        caught |= _caught(Path(folder), "many", more)
    _tell(sites, caught)
    return 0


def _tests_by_site(notes: Path, paths: Mapping[int, str]) -> dict[int, list[str]]:
    """Tests that reach each site and pass, the first of which are on SQLite or on no database."""
    _run_tests(notes, {}, WORKERS)
    seconds: dict[str, float] = {}
    reached: dict[int, list[str]] = defaultdict(list)
    for line in _lines(notes):
        if line.get("passed"):
            seconds[line["test"]] = line["seconds"]
        for number in line.get("reaches", ()):
            reached[number].append(line["test"])
    by_database = [
        {test: taken for test, taken in seconds.items() if ("postgresql" in test) is on_postgresql}
        for on_postgresql in (False, True)
    ]
    return {
        number: [test for seconds in by_database for test in _chosen(tests, seconds, paths[number])]
        for number, tests in reached.items()
    }


def _chosen(tests: Iterable[str], seconds: Mapping[str, float], path: str) -> list[str]:
    """What a function worked out may be kept: a few tests that reach it stand for all of their files."""
    first = _by_kinship([test for test in tests if test in seconds], seconds, _words(path))
    files = {_file(test) for test in first}
    beside = [test for test in seconds if _file(test) in files and test not in set(first)]
    if len(first) < FEW_TESTS:
        first += _by_kinship(beside, seconds, _words(path))
    return first[:MOST_OF_A_DATABASE]


def _by_kinship(tests: Iterable[str], seconds: Mapping[str, float], words: Set[str]) -> list[str]:
    """In turns the tests of files with some of these words in their names, and the others."""
    sharing: dict[int, list[str]] = defaultdict(list)
    for test in tests:
        sharing[len(words & _words(_file(test)))].append(test)
    ordered = {shared: _from_each_file(sharing[shared], seconds) for shared in sorted(sharing, reverse=True)}
    akin = [test for shared, tests in ordered.items() if shared for test in tests]
    return _in_turns([akin, ordered.get(0, [])])


def _from_each_file(tests: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    """The quickest test of each file, then the second of each: what is about a site may be in any of them."""
    of_file: dict[str, list[str]] = defaultdict(list)
    for test in sorted(tests, key=seconds.__getitem__):
        of_file[_file(test)].append(test)
    return _in_turns(of_file.values())


def _in_turns(lists: Iterable[Sequence[str]]) -> list[str]:
    return [test for turn in zip_longest(*lists) for test in turn if test is not None]


def _file(test: str) -> str:
    return test.partition("::")[0]


def _words(path: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in re.findall("[a-z]+", path.removesuffix(".py")))


def _caught(folder: Path, name: str, tests: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """The test that noticed the change, by site."""
    plans = [dict([*tests.items()][part::WORKERS]) for part in range(WORKERS)]
    notes = [folder / f"{name}_{part}" for part in range(WORKERS)]
    with ThreadPoolExecutor(WORKERS) as threads:
        list(threads.map(_run_tests, notes, [{"tests": plan} for plan in plans]))
    return {line["site"]: line["caught"] for part in notes for line in _lines(part) if line["caught"]}


def _run_tests(notes: Path, plan: Mapping[str, Any], workers: int = 0) -> None:
    notes.touch()
    plan_file = notes.with_suffix(".plan")
    plan_file.write_text(json.dumps({**plan, "count": COUNT, "seed": SEED, "notes": str(notes)}))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants.plugin", "-n", str(workers)]
    left_out = [f"--ignore-glob=*{name}*" for name in LEFT_OUT]
    subprocess.run(
        [*command, *left_out, *FOLDERS_OF_TESTS],
        cwd=ROOT,
        env=os.environ | {"MUTANTS_PLAN": str(plan_file)},
        stdout=notes.with_suffix(".out").open("w"),
        stderr=subprocess.STDOUT,
        check=False,
    )


def _lines(notes: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in notes.read_text().splitlines()]


def _tell(sites: list[Site], caught: dict[int, str]) -> None:
    drawn, noticed = Counter[str](), Counter[str]()
    for site in sites:
        (folder,) = (name for name in FOLDERS if site.path.startswith(f"{name}/"))
        drawn[folder] += 1
        noticed[folder] += site.number in caught
        if site.number not in caught:
            print(f"{site.path}:{site.line}: {site.was}  ->  {site.becomes}")
    for folder in FOLDERS:
        print(f"{folder}: {noticed[folder]} of {drawn[folder]} noticed")
    print(f"all: {noticed.total()} of {drawn.total()} noticed (COUNT={COUNT} SEED={SEED})")


if __name__ == "__main__":
    sys.exit(main())
