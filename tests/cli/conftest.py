"""A command over a fresh SQLite file, migrated once for all tests and copied for each."""

import shutil
from pathlib import Path

import pytest

from tests.support.command import Command

OWNER = "ada@example.com"


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the user `OWNER` and the workspace `acme` of hers."""
    command = Command(tmp_path_factory.mktemp("command"))
    command.json("migrate")
    command.json("users", "create", "--email", OWNER, "--password", "a long password", "--name", "Ada")
    command.json("workspaces", "create", "--name", "Acme", "--slug", "acme", "--owner", OWNER)
    return command.directory / "var" / "duograph.sqlite"


@pytest.fixture
def command(tmp_path: Path, migrated_file: Path) -> Command:
    (tmp_path / "var").mkdir()
    for file in migrated_file.parent.glob("duograph.sqlite*"):
        shutil.copy(file, tmp_path / "var" / file.name)
    return Command(tmp_path)


@pytest.fixture
def empty(tmp_path: Path) -> Command:
    """A command where nothing has been set up."""
    return Command(tmp_path)
