"""Commands over SQLite files that are made once for all tests and copied for each."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.commands.command import PROGRAM, Command

OWNER = "ada@example.com"
SECRET = {"DUOGRAPH_SECRET_KEY": "a secret of the tests, 32 characters"}


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the user `OWNER` and the workspace `acme` of hers."""
    command = Command(tmp_path_factory.mktemp("command"))
    command.json("migrate")
    command.json("users", "create", "--email", OWNER, "--name", "Ada", stdin="a long password")
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


@pytest.fixture
def own_start(command: Command) -> Command:
    """The command as a shell starts it: it imports all that it needs."""
    return replace(command, program=PROGRAM)


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The demo workspace with its files."""
    command = Command(tmp_path_factory.mktemp("seeded"), SECRET)
    command.json("seed", "--sessions", "10", "--days", "5")
    return command


@pytest.fixture
def source(seeded: Command, tmp_path: Path) -> Command:
    shutil.copytree(seeded.directory, tmp_path / "source")
    return Command(tmp_path / "source", SECRET)


@pytest.fixture
def other(tmp_path: Path) -> Command:
    """Where nothing has been set up, with the same secret."""
    (tmp_path / "other").mkdir()
    return Command(tmp_path / "other", SECRET)
