"""Programs of the npm registry, installed from tests/clients/package-lock.json and run by Node."""

import fcntl
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CLIENTS = Path(__file__).parents[2] / "clients"
_PACKAGES = CLIENTS / "node_modules"
FIRST_NODE = 20


def run_node(*arguments: str) -> str:
    """What Node prints in tests/clients, where the packages are installed first."""
    install()
    return _run("node", *arguments)


def has_node() -> bool:
    """Whether there is a Node that runs the packages, with npm."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    asked = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    return is_new_enough(asked.stdout)


def is_new_enough(version: str) -> bool:
    """Whether it is the version, like `v20.11.1`, of a Node that the packages support."""
    found = re.match(r"v(\d+)\.", version)
    return found is not None and int(found[1]) >= FIRST_NODE


def install(*, with_dev: bool = False) -> None:
    """Install the locked packages, those of `devDependencies` too `with_dev`, unless they are.

    Tests without Node are skipped.
    """
    if not has_node():
        pytest.skip(f"Node {FIRST_NODE} is not installed: the tests of npm packages did not run.")
    lock = CLIENTS / "package-lock.json"
    installed, everything = _PACKAGES / ".package-lock.json", _PACKAGES / ".with-dev"
    needed = everything if with_dev else installed
    with lock.open() as locked:
        # Tests in other processes wait until it is done.
        fcntl.flock(locked, fcntl.LOCK_EX)
        if not needed.exists() or needed.stat().st_mtime < lock.stat().st_mtime:
            omitted = () if with_dev else ("--omit=dev",)
            _run("npm", "ci", "--no-audit", "--no-fund", *omitted)
            installed.touch()
            needed.touch()


def _run(*command: str) -> str:
    done = subprocess.run(command, cwd=CLIENTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
