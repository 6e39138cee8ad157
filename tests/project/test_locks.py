"""The two locks: what tests and checks need, and the part of it that running needs."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.commands.command import UNMEASURED

ROOT = Path(__file__).parents[2]
# Imports every module of the project that needs no extra, then prints the distributions that the imported
# modules come from.
PROBE = """
import sys
from importlib import import_module
from importlib.metadata import packages_distributions
from pkgutil import walk_packages
# As if `duograph[traces]` were not installed: Redis's client imports its packages where they are.
sys.modules["opentelemetry.sdk"] = sys.modules["opentelemetry.exporter"] = None
for name in ("gateway", "rest_compat", "resolvers", "schema", "oauth", "storage"):
    package = import_module(name)
    for module in walk_packages(package.__path__, f"{name}."):
        # Alembic's own, and what is imported for `duograph[traces]` only.
        if module.name not in ("storage.migrations.env", "gateway.monitoring.tracing"):
            import_module(module.name)
# The name that all its packages share.
known = packages_distributions() | {"opentelemetry": ["opentelemetry-api"]}
print(*{name for module in sys.modules for name in known.get(module.partition(".")[0], ())})
"""


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def entries_of(lock: str) -> list[str]:
    """What the lock says about each package: its version and the hashes of its files."""
    return re.split(r"\n(?=\S)", (ROOT / lock).read_text())


def pins_of(lock: str) -> dict[str, str]:
    """Versions by name."""
    return dict(entry.split()[0].split("==") for entry in entries_of(lock))


def names_in(requirements: list[str]) -> set[str]:
    return {canonical(re.split(r"[\[<>=;]", requirement)[0]) for requirement in requirements}


def test_what_running_needs_is_pinned_as_in_the_lock_for_tests() -> None:
    assert pins_of("running.lock").items() < pins_of("requirements.lock").items()


@pytest.mark.parametrize("lock", ["running.lock", "requirements.lock"])
def test_every_package_is_installed_by_the_hashes_of_its_files_from_wherever_it_comes(lock: str) -> None:
    faults = [entry for entry in entries_of(lock) if not re.search(r"--hash=sha256:[0-9a-f]{64}", entry)]
    assert not faults
    assert "://" not in (ROOT / lock).read_text()


def test_what_installs_the_locks_refuses_other_files() -> None:
    lines = [
        line
        for file in ("Makefile", "docs/deploy/Dockerfile", "docs/deploy.md")
        for line in (ROOT / file).read_text().splitlines()
        if re.search(r"-r (running\.lock|\$\(1\))", line)
    ]
    assert len(lines) == 4
    assert [line for line in lines if "--require-hashes" not in line] == []


def test_running_needs_the_dependencies_and_none_of_the_packages_for_tests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = pins_of("running.lock").keys()
    assert names_in(project["dependencies"]) <= pinned
    assert names_in(project["optional-dependencies"]["dev"]) & pinned == set()
    assert {"botocore", "setuptools"} <= pinned


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """The distributions that the project's modules import, directly or not."""
    probe = [*UNMEASURED, sys.executable, "-c", PROBE]
    done = subprocess.run(probe, capture_output=True, text=True, check=True, cwd=ROOT)
    return {canonical(name) for name in done.stdout.split()} - {"duograph"}


def test_no_module_of_the_project_imports_what_running_does_not_install(imported: set[str]) -> None:
    assert imported - pins_of("running.lock").keys() == set()
