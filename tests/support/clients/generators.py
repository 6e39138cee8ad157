"""Clients that generators write from the contracts, written and compiled once for a run of the tests."""

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from resolvers.graph.contract import SCHEMA_FILE
from rest_compat.routing.paths import OPENAPI_FILE
from tests.support.clients.npm import CLIENTS, install
from tests.support.measures.patience import PATIENCE_SECONDS

IN_TYPESCRIPT = ("graphql_codegen", "openapi_typescript", "hey_api")
IN_PYTHON = ("ariadne_codegen", "openapi_python_client")
# ariadne-codegen needs an older graphql-core than the gateway: these have an environment of their own.
_ENVIRONMENT = Path(sys.prefix) / "generators"
_REQUIREMENTS = CLIENTS / "requirements.txt"
_NPM = "../node_modules/.bin"
# In the folder of each program.
_GENERATORS = {
    "graphql_codegen": [f"{_NPM}/graphql-codegen", "--config", "codegen.json"],
    "openapi_typescript": [f"{_NPM}/openapi-typescript", "openapi.json", "-o", "generated/rest.ts"],
    "hey_api": [f"{_NPM}/openapi-ts"],
    "ariadne_codegen": [str(_ENVIRONMENT / "bin/ariadne-codegen")],
    "openapi_python_client": [
        *(str(_ENVIRONMENT / "bin/openapi-python-client"), "generate", "--path", "openapi.json"),
        *("--output-path", "generated", "--meta", "none", "--config", "config.yaml", "--fail-on-warning"),
    ],
}


def generate(folder: Path, names: Iterable[str]) -> None:
    """Write the clients with these names into `folder`, all at the same time, and compile them.

    It is done once; tests in other processes wait meanwhile.
    """
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [name for name in names if not (folder / name / "done").exists()]
        if missing:
            _generate(folder, missing)
        for name in missing:
            (folder / name / "done").touch()


def python_of_clients() -> str:
    """The interpreter that has what the clients in Python import."""
    return str(_ENVIRONMENT / "bin/python")


def _generate(folder: Path, names: list[str]) -> None:
    if set(names) & set(IN_PYTHON):
        _install_python_generators()
    if set(names) & set(IN_TYPESCRIPT):
        install()
        (folder / "node_modules").symlink_to(CLIENTS / "node_modules")
    for name in ("package.json", "tsconfig.json"):
        shutil.copy(CLIENTS / name, folder)
    for name in names:
        shutil.copytree(CLIENTS / name, folder / name)
        for contract in (SCHEMA_FILE, OPENAPI_FILE):
            shutil.copy(contract, folder / name)
    _run_all({name: (_GENERATORS[name], folder / name) for name in names})
    checks = {
        name: ([sys.executable, "-m", "mypy", *_mypy_options(folder / name)], folder / name)
        for name in names
        if name in IN_PYTHON
    }
    if set(names) & set(IN_TYPESCRIPT):
        checks["tsc"] = (["node_modules/.bin/tsc", "-p", "tsconfig.json"], folder)
    _run_all(checks)


def _mypy_options(folder: Path) -> list[str]:
    # A cache for each check: two that run at the same time break one that they share.
    return [
        *("--python-executable", python_of_clients(), "--config-file", "", "--no-warn-unused-ignores"),
        *("--follow-imports", "silent", "--cache-dir", str(folder / "mypy"), "program.py"),
    ]


def _run_all(commands: dict[str, tuple[list[str], Path]]) -> None:
    """Run the commands at the same time; each has to succeed."""
    running = {
        name: subprocess.Popen(
            command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
        )
        for name, (command, cwd) in commands.items()
    }
    ended = {
        name: (each.communicate(timeout=PATIENCE_SECONDS)[0], each.returncode)
        for name, each in running.items()
    }
    for name, (output, status) in ended.items():
        assert status == 0, f"{name}: {output}"


def _install_python_generators() -> None:
    """Install the pinned packages, unless they are."""
    installed = _ENVIRONMENT / "installed"
    with _REQUIREMENTS.open() as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        if not installed.exists() or installed.stat().st_mtime < _REQUIREMENTS.stat().st_mtime:
            _run_all({"venv": ([sys.executable, "-m", "venv", str(_ENVIRONMENT)], CLIENTS)})
            pip = [
                python_of_clients(),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-compile",
                "--disable-pip-version-check",
            ]
            _run_all({"pip": ([*pip, "--requirement", str(_REQUIREMENTS)], CLIENTS)})
            installed.touch()
