"""The license is in the tree and in the metadata of the package."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_package_declares_the_license_that_it_ships():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0"
    assert [(ROOT / name).read_text().split(maxsplit=3)[:2] for name in project["license-files"]] == [
        ["Apache", "License"]
    ]
