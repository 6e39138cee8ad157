"""Clients that generators write from the contracts: they compile, and their programs run against a gateway.

docs/clients.md offers the programs to copy.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clients.generators import (
    GENERATORS,
    PYTHON,
    PYTHON_OF_CLIENTS,
    TYPESCRIPT,
    Generator,
    chosen,
    generate,
)
from tests.support.clients.npm import CLIENTS, has_node
from tests.support.measures.patience import TAKES_MINUTES
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve

pytestmark = TAKES_MINUTES


# What each program prints of the share it makes, the metrics it reads and the input that is refused.
PRINTED = {"amount": 1900, "year": 2026, "costs": 0, "periods": 3, "refused": True}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the generated clients; processes of one run share it."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "generated-clients"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Tenant]]:
    folder = tmp_path_factory.mktemp("live")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as running:
        yield running


def printed(command: list[str], folder: Path, live: tuple[str, Tenant]) -> object:
    address, tenant = live
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "DUOGRAPH": address, "TOKEN": tenant.token},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_name(generator: Generator) -> str:
    return generator.name


@pytest.mark.long
@pytest.mark.skipif(not has_node(), reason="Node is not installed: the clients in TypeScript did not run.")
@pytest.mark.parametrize("generator", chosen(TYPESCRIPT), ids=by_name)
def test_a_client_in_typescript_runs(folder: Path, live: tuple[str, Tenant], generator: Generator) -> None:
    generate(folder, chosen(TYPESCRIPT))
    assert printed(["node", "program.js"], folder / generator.name, live) == PRINTED


@pytest.mark.long
@pytest.mark.parametrize("generator", chosen(PYTHON), ids=by_name)
def test_a_client_in_python_runs(folder: Path, live: tuple[str, Tenant], generator: Generator) -> None:
    generate(folder, chosen(PYTHON))
    assert printed([PYTHON_OF_CLIENTS, "program.py"], folder / generator.name, live) == PRINTED


def test_every_program_and_command_is_offered_and_every_scalar_is_mapped() -> None:
    page = (CLIENTS.parents[1] / "docs/clients.md").read_text("utf-8")
    for generator in GENERATORS:
        assert f"../tests/clients/{generator.name}/" in page
        assert generator.command.removesuffix(" --fail-on-warning") in page.replace(" \\\n  ", " ")
    schema = (CLIENTS.parents[1] / "schema/schema.graphql").read_text("utf-8")
    scalars = set(re.findall(r"^scalar (\w+)", schema, re.M))
    config = json.loads((CLIENTS / "graphql_codegen/codegen.json").read_text("utf-8"))
    assert set(config["generates"]["generated/"]["config"]["scalars"]) == scalars
    assert scalars <= set(re.findall(r"`(\w+)`", page))
