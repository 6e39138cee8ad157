"""What a command imports: help describes every command without what commands work with."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.main import NOUNS
from tests.support.commands.command import UNMEASURED

# Runs commands one after the other, and prints the names of the modules that are imported after each.
PROBE = """
import sys
from gateway.cli.main import main
for command in sys.argv[1:]:
    try:
        main(command.split())
    except SystemExit as end:
        assert not end.code, end.code
    print("imported:", *sys.modules)
"""
# Composes a gateway without Redis, then prints the same.
GATEWAY = """
import sys
from gateway.app import create_app
from gateway.settings.settings import Settings
create_app(Settings(secret_key="x" * 32))
print(*sys.modules)
"""
# What a command needs for its work, and no command for its help.
SURFACES = {"fastapi", "resolvers", "rest_compat.api", "schema.kit.base", "strawberry", "uvicorn"}
DATABASES = {"aiosqlite", "alembic", "asyncpg", "redis", "sqlalchemy", "sqlmodel", "storage.engine.database"}


def imported_by(*commands: str) -> list[set[str]]:
    """The modules that a process has imported after each of the commands that it runs."""
    done = subprocess.run(
        [*UNMEASURED, sys.executable, "-c", PROBE, *commands],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    return [set(line.split()[1:]) for line in lines if line.startswith("imported:")]


def test_help_imports_neither_the_schema_nor_a_database_driver() -> None:
    helps = [f"{command} --help" for command in ("", *NOUNS, "workspaces status")]
    for command, imported in zip(helps, imported_by(*helps), strict=True):
        assert imported & (SURFACES | DATABASES) == set(), command


def test_the_list_of_commands_imports_few_modules() -> None:
    """351 when this was written, most of them to draw the help: 0.25 s of processor time."""
    (imported,) = imported_by("--help")
    assert len(imported) < 400


def test_a_gateway_imports_no_library_that_it_may_never_need(tmp_path: Path) -> None:
    done = subprocess.run(
        [*UNMEASURED, sys.executable, "-c", GATEWAY],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert set(done.stdout.split()) & {"alembic", "fastapi", "limits", "redis"} == set()


def test_a_migration_imports_no_surface(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUOGRAPH_DATABASE_URL", f"sqlite:///{tmp_path}/duograph.sqlite")
    (imported,) = imported_by("migrate")
    assert imported & SURFACES == set()
