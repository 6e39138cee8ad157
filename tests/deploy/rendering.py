"""The files of docs/deploy/ as they are run: the chart rendered, the compose file with its variables."""

import re
from pathlib import Path
from typing import Any

import yaml
from gotpl.exts.helm import HelmTemplateEngine

FOLDER = Path(__file__).parents[2] / "docs" / "deploy"
CHART = FOLDER / "chart"
DIGEST = f"sha256:{'5eed' * 16}"
REQUIRED: dict[str, Any] = {
    "host": "api.example.com",
    "secret": "duograph",
    "image": {"digest": DIGEST},
    "settings": {"DUOGRAPH_OBJECT_STORE": "s3://duograph", "DUOGRAPH_TRUSTED_PROXIES": "10.0.0.0/8"},
}
_VARIABLE = re.compile(r"\$\{(\w+)(?::\?[^}]*)?\}")


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Values over values, as Helm merges them."""
    result = dict(base)
    for name, value in over.items():
        both = isinstance(value, dict) and isinstance(result.get(name), dict)
        result[name] = merged(result[name], value) if both else value
    return result


def rendered(**values: Any) -> list[dict[str, Any]]:
    """The chart's objects, by gotpl's implementation of Go's templates and of Helm's functions."""
    about = yaml.safe_load((CHART / "Chart.yaml").read_text())
    context = {
        "Values": merged(yaml.safe_load((CHART / "values.yaml").read_text()), values),
        "Release": {"Name": "shop", "Namespace": "default", "Service": "Helm"},
        "Chart": {"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
    }
    sources = {file.name: file.read_text() for file in sorted((CHART / "templates").iterdir())}
    pages = HelmTemplateEngine(sources).render({name: context for name in sources if name.endswith(".yaml")})
    return [each for page in pages.values() for each in yaml.safe_load_all(page) if each]


def releases() -> dict[str, str]:
    """The release of each image by the variable that names it."""
    lines = (FOLDER / "images").read_text().splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def compose_text() -> str:
    """The compose file with the variables of `compose.env`, and images as `pin_images.sh` writes them."""
    lines = (FOLDER / "compose.env").read_text().splitlines()
    variables = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    variables |= {name: f"{image.rpartition(':')[0]}@{DIGEST}" for name, image in releases().items()}
    return _VARIABLE.sub(lambda found: variables[found[1]], (FOLDER / "compose.yaml").read_text())
