"""A release of this tree as it is, made once in a repository of its own."""

import shutil
import subprocess
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from tests.project.release import release

ROOT = Path(__file__).parents[2]
VERSION, DAY = "99.0.0", date(2026, 11, 24)
NAMES = ("pyproject.toml", "running.lock", "README.md", "LICENSE", "CHANGELOG.md")
PACKAGES = ("gateway", "rest_compat", "resolvers", "schema", "oauth", "storage", "docs")


@dataclass(frozen=True)
class Released:
    """The tree after its release, and the files in its `dist/`."""

    tree: Path
    files: list[Path]

    def file(self, ending: str) -> Path:
        (file,) = (file for file in self.files if file.name.endswith(ending))
        return file


def git(tree: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout


def begin_repository(tree: Path) -> None:
    """Everything in the folder as the first commit of a repository."""
    git(tree, "init", "--quiet")
    git(tree, "config", "user.name", "Ada")
    git(tree, "config", "user.email", "ada@example.com")
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "Begin")


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    tree = tmp_path_factory.mktemp("released")
    for name in NAMES:
        shutil.copy(ROOT / name, tree)
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "bundles"))
    (tree / ".gitignore").write_text("dist/\nbuild/\n*.egg-info/\n")
    begin_repository(tree)
    return Released(tree, release(tree, VERSION, DAY))
