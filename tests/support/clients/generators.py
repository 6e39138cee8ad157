"""Clients that generators write from the contracts, written and compiled once for a run of the tests."""

import fcntl
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphql import build_schema, introspection_from_schema

from resolvers.graph.contract import SCHEMA_FILE
from rest_compat.routing.paths import OPENAPI_FILE
from tests.support.clients.npm import CLIENTS, install
from tests.support.measures.patience import PATIENCE_SECONDS

TYPESCRIPT, PYTHON = "TypeScript", "Python"


@dataclass(frozen=True)
class Generator:
    """One that writes a client: its command runs beside the contracts, in a copy of tests/clients/NAME."""

    name: str
    language: str
    command: str
    # Whether the tests may draw it; `make clients-check` runs each. The others need large packages.
    is_drawn: bool = False


_OPENAPI_GENERATOR = "openapi-generator-cli generate"
GENERATORS = (
    Generator("graphql_codegen", TYPESCRIPT, "graphql-codegen --config codegen.json", is_drawn=True),
    Generator("gql_tada", TYPESCRIPT, "gql.tada generate-output"),
    Generator("genql", TYPESCRIPT, "genql --schema schema.graphql --output generated"),
    Generator(
        "openapi_typescript",
        TYPESCRIPT,
        "openapi-typescript openapi.json --output generated/rest.ts",
        is_drawn=True,
    ),
    Generator("hey_api", TYPESCRIPT, "openapi-ts", is_drawn=True),
    Generator("orval", TYPESCRIPT, "orval --config orval.config.mjs"),
    Generator(
        "swagger_typescript_api",
        TYPESCRIPT,
        "swagger-typescript-api generate --path openapi.json --output generated --name rest.ts "
        "--generate-union-enums",
    ),
    Generator("oazapfts", TYPESCRIPT, "oazapfts openapi.json rest.ts"),
    Generator(
        "openapi_generator_typescript",
        TYPESCRIPT,
        f"node without_webhooks.mjs && {_OPENAPI_GENERATOR} --input-spec rest.json "
        "--generator-name typescript-fetch --output generated "
        "--additional-properties importFileExtension=.js",
    ),
    Generator("ariadne_codegen", PYTHON, "ariadne-codegen", is_drawn=True),
    Generator("sgqlc", PYTHON, "sgqlc-codegen schema introspection.json generated.py"),
    Generator(
        "openapi_python_client",
        PYTHON,
        "openapi-python-client generate --path openapi.json --output-path generated --meta none "
        "--config config.yaml --fail-on-warning",
        is_drawn=True,
    ),
    Generator(
        "openapi_generator_python",
        PYTHON,
        f"{_OPENAPI_GENERATOR} --input-spec openapi.json --generator-name python "
        "--package-name generated --output .",
    ),
)
EVERY = os.environ.get("CLIENTS") == "all"
# ariadne-codegen needs an older graphql-core than the gateway: these have an environment of their own.
_ENVIRONMENT = Path(sys.prefix) / "generators"
_REQUIREMENTS = CLIENTS / ("requirements-all.txt" if EVERY else "requirements.txt")
PYTHON_OF_CLIENTS = str(_ENVIRONMENT / "bin/python")


def chosen(language: str) -> list[Generator]:
    """All of the language in `make clients-check`, else one: another with each change of the contracts."""
    ones = [each for each in GENERATORS if each.language == language and (EVERY or each.is_drawn)]
    contracts = OPENAPI_FILE.read_text("utf-8") + SCHEMA_FILE.read_text("utf-8")
    return ones if EVERY else [random.Random(contracts).choice(ones)]


def generate(folder: Path, generators: Sequence[Generator]) -> None:
    """Write these clients into `folder`, all at the same time, and compile them.

    It is done once; tests in other processes wait meanwhile.
    """
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [each for each in generators if not (folder / each.name / "done").exists()]
        if missing:
            _generate(folder, missing)
        for each in missing:
            (folder / each.name / "done").touch()


def _generate(folder: Path, generators: Sequence[Generator]) -> None:
    languages = {each.language for each in generators}
    if EVERY or PYTHON in languages:
        _install_python_generators()
    if TYPESCRIPT in languages:
        install(with_dev=EVERY)
        (folder / "node_modules").symlink_to(CLIENTS / "node_modules")
    for name in ("package.json", "tsconfig.json"):
        shutil.copy(CLIENTS / name, folder)
    for each in generators:
        shutil.copytree(CLIENTS / each.name, folder / each.name)
        _copy_contracts(folder / each.name)
    _run_all({each.name: (["sh", "-c", each.command], folder / each.name) for each in generators})
    checks = {
        each.name: ([sys.executable, "-m", "mypy", *_mypy_options(folder / each.name)], folder / each.name)
        for each in generators
        if each.language == PYTHON
    }
    if TYPESCRIPT in languages:
        # One compiles all, but for those with settings of their own.
        own = [each.name for each in generators if (folder / each.name / "tsconfig.json").exists()]
        checks |= {name: (["tsc", "-p", name], folder) for name in (".", *own)}
    _run_all(checks)


def _copy_contracts(folder: Path) -> None:
    """Put the contracts there, also as sgqlc reads the schema, which the tests never draw."""
    for contract in (SCHEMA_FILE, OPENAPI_FILE):
        shutil.copy(contract, folder)
    if EVERY:
        schema = introspection_from_schema(build_schema(SCHEMA_FILE.read_text("utf-8")))
        (folder / "introspection.json").write_text(json.dumps({"data": schema}))


def _mypy_options(folder: Path) -> list[str]:
    # A cache for each check: two that run at the same time break one that they share.
    return [
        *("--python-executable", PYTHON_OF_CLIENTS, "--config-file", "", "--no-warn-unused-ignores"),
        *("--follow-imports", "silent", "--cache-dir", str(folder / "mypy"), "--strict", "program.py"),
    ]


def _run_all(commands: dict[str, tuple[list[str], Path]]) -> None:
    """Run the commands at the same time; each has to succeed."""
    programs = (CLIENTS / "node_modules/.bin", _ENVIRONMENT / "bin", os.environ["PATH"])
    environment = {**os.environ, "PATH": os.pathsep.join(map(str, programs))}
    running = {
        name: subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
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
    installed = _ENVIRONMENT / _REQUIREMENTS.stem
    with _REQUIREMENTS.open() as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        if not installed.exists() or installed.stat().st_mtime < _REQUIREMENTS.stat().st_mtime:
            _run_all({"venv": ([sys.executable, "-m", "venv", str(_ENVIRONMENT)], CLIENTS)})
            options = ("install", "--quiet", "--no-compile", "--disable-pip-version-check", "--requirement")
            pip = [PYTHON_OF_CLIENTS, "-m", "pip", *options, str(_REQUIREMENTS)]
            _run_all({"pip": (pip, CLIENTS)})
            installed.touch()
