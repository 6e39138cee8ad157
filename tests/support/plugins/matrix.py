"""Which of the two databases and two surfaces a case meets in a run.

A case with both parameters runs twice instead of four times: each database once, each surface once, in
pairs that the case's name draws. A case with the database alone runs on both databases, except in the
directories of `ONE_DATABASE`, where its name draws one of them, unless it is marked `both_databases`.
`MATRIX=full` runs every combination. So does a selection that leaves a case one database or one surface,
such as `-k postgresql` or a node id.
"""

import os
from collections import defaultdict
from zlib import crc32

import pytest

from tests.support.callers.surfaces import GraphQL, Rest

DATABASES = ["sqlite", "postgresql"]
SURFACES = [GraphQL, Rest]
# Protocols and pages, whose own statements are simple and sent by many tests, half of which are on each
# database. Marked there is what locks rows, writes out of order or counts statements, and what compares
# the surfaces. New directories have both databases.
ONE_DATABASE = {
    "tests/gateway",
    "tests/mail",
    "tests/oauth",
    "tests/pages",
    "tests/second_factors",
    "tests/surfaces",
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "both_databases: runs on both databases in a directory of one")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the combinations that this run leaves out; what failed last is always run again."""
    if os.environ.get("MATRIX") == "full" or config.getoption("lf", default=False):
        return
    cases: dict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and database_of(item) is not None:
            cases[_case(item)].append(item)
    left_out = {item for case, variants in cases.items() for item in _left_out(config, case, variants)}
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def _left_out(config: pytest.Config, case: str, variants: list[pytest.Function]) -> list[pytest.Function]:
    """The variants of a case that do not run; none where the selection was narrower already."""
    if len({database_of(item) for item in variants}) < len(DATABASES):
        return []
    drawn = crc32(case.encode()) % 2
    surfaces = {_surface(item) for item in variants}
    if surfaces == {None}:
        alone = [item for item in variants if _needs_one_database(config, item)]
        return [item for item in alone if database_of(item) != drawn]
    if len(surfaces) < len(SURFACES):
        return []
    return [item for item in variants if database_of(item) ^ _surface(item) != drawn]


def _needs_one_database(config: pytest.Config, item: pytest.Function) -> bool:
    directory = "/".join(item.path.relative_to(config.rootpath).parts[:2])
    return directory in ONE_DATABASE and item.get_closest_marker("both_databases") is None


def _case(item: pytest.Function) -> str:
    """The name of an item without its database and its surface."""
    left = {*DATABASES, *(surface.name for surface in SURFACES)}
    name, _, parameters = item.nodeid.partition("[")
    return f"{name}[{'-'.join(part for part in parameters.strip(']').split('-') if part not in left)}"


def database_of(item: pytest.Function) -> int | None:
    """Its place among the databases; the first of an installation's two words is one, too."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    database = parameters.get("database_url") or parameters.get("installation", [None])[0]
    return DATABASES.index(database) if database in DATABASES else None


def _surface(item: pytest.Function) -> int | None:
    return next((SURFACES.index(value) for value in item.callspec.params.values() if value in SURFACES), None)
