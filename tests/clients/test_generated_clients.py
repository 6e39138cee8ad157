"""Clients that generators write from the contracts: they compile, and their programs run against a gateway.

docs/clients.md offers the programs to copy.
"""

import json
import os
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from resolvers.graph.contract import SCHEMA_FILE
from rest_compat.routing.paths import OPENAPI_FILE
from tests.support.clients.generators import IN_PYTHON, IN_TYPESCRIPT, generate, python_of_clients
from tests.support.clients.npm import CLIENTS, has_node
from tests.support.measures.patience import TAKES_MINUTES
from tests.support.servers.gateways import Tenant
from tests.support.servers.live import serve

pytestmark = TAKES_MINUTES


def share_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """All of them in `make clients-check`, else one: another with each change of the contracts."""
    contracts = OPENAPI_FILE.read_text("utf-8") + SCHEMA_FILE.read_text("utf-8")
    return names if os.environ.get("CLIENTS") == "all" else (random.Random(contracts).choice(names),)


TYPESCRIPT, PYTHON = share_of(IN_TYPESCRIPT), share_of(IN_PYTHON)
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


@pytest.mark.long
@pytest.mark.skipif(not has_node(), reason="Node is not installed: the clients in TypeScript did not run.")
@pytest.mark.parametrize("name", TYPESCRIPT)
def test_a_client_in_typescript_runs(folder: Path, live: tuple[str, Tenant], name: str) -> None:
    generate(folder, TYPESCRIPT)
    assert printed(["node", f"built/{name}/program.js"], folder, live) == PRINTED


@pytest.mark.long
@pytest.mark.parametrize("name", PYTHON)
def test_a_client_in_python_runs(folder: Path, live: tuple[str, Tenant], name: str) -> None:
    generate(folder, PYTHON)
    assert printed([python_of_clients(), "program.py"], folder / name, live) == PRINTED


def test_every_program_is_offered_and_every_scalar_is_mapped() -> None:
    page = (CLIENTS.parents[1] / "docs/clients.md").read_text("utf-8")
    for name in (*IN_TYPESCRIPT, *IN_PYTHON):
        assert f"../tests/clients/{name}/" in page
    schema = (CLIENTS.parents[1] / "schema/schema.graphql").read_text("utf-8")
    scalars = set(re.findall(r"^scalar (\w+)", schema, re.M))
    config = json.loads((CLIENTS / "graphql_codegen/codegen.json").read_text("utf-8"))
    assert set(config["generates"]["generated/"]["config"]["scalars"]) == scalars
    assert scalars <= set(re.findall(r"`(\w+)`", page))
