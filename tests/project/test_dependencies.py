"""What the product imports is declared, and what is declared is imported; the version stands in one place."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("gateway", "rest_compat", "resolvers", "schema", "oauth", "storage")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTIONS = packages_distributions()
# These distributions share one package.
PARTS = {
    "opentelemetry.sdk": "opentelemetry-sdk",
    "opentelemetry.exporter": "opentelemetry-exporter-otlp-proto-http",
    "opentelemetry": "opentelemetry-api",
}
# What Starlette reads forms with, and the data of `zoneinfo`.
NEVER_IMPORTED = {"python-multipart", "tzdata"}
# Modules that run only where an extra is installed.
EXTRAS = {"gateway/monitoring/tracing.py": "traces"}


def declared(extra: str | None = None) -> set[str]:
    """The names of the dependencies, and of the extra's."""
    requirements = PROJECT["dependencies"] + (PROJECT["optional-dependencies"][extra] if extra else [])
    return {re.split(r"[\[<>=;]", requirement)[0] for requirement in requirements}


def imports(source: str) -> Iterator[str]:
    """The distributions that a module imports, outside the standard library and the project."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names and top not in (*PACKAGES, "docs"):
                yield distribution(name)


def distribution(module: str) -> str:
    part = next((part for part in PARTS if f"{module}.".startswith(f"{part}.")), None)
    top = module.partition(".")[0]
    names = DISTRIBUTIONS.get(top, [top])
    return PARTS[part] if part else re.sub(r"[-_.]+", "-", names[0]).lower()


def undeclared(path: str, source: str) -> set[str]:
    return set(imports(source)) - declared(EXTRAS.get(path))


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths}


def test_an_import_that_is_not_declared_is_found() -> None:
    planted = "import numpy.linalg\nfrom opentelemetry.sdk.trace import TracerProvider\nimport json"
    assert undeclared("gateway/app.py", planted) == {"numpy", "opentelemetry-sdk"}
    assert undeclared("gateway/monitoring/tracing.py", planted) == {"numpy"}


def test_everything_that_the_product_imports_is_declared(sources: dict[str, str]) -> None:
    missing = {path: names for path, source in sources.items() if (names := undeclared(path, source))}
    assert not missing, f"Declare what these modules import in pyproject.toml: {missing}"


def test_everything_that_is_declared_is_imported(sources: dict[str, str]) -> None:
    imported = {name for source in sources.values() for name in imports(source)}
    left = declared("traces") - imported - NEVER_IMPORTED
    assert not left, f"No module imports these dependencies of pyproject.toml: {sorted(left)}"


def test_the_version_is_that_of_pyproject_everywhere() -> None:
    """The OpenAPI document and `duograph --version` have the installation's."""
    assert version("duograph") == PROJECT["version"], "Run `make setup`: another version is installed."
    chart = (ROOT / "docs" / "deploy" / "chart" / "Chart.yaml").read_text()
    written = dict(re.findall(r'^(version|appVersion): "?([^"\n]+)"?$', chart, re.MULTILINE))
    assert set(written.values()) == {PROJECT["version"]}, "Write pyproject's version into Chart.yaml, twice."
