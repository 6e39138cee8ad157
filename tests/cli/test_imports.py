"""What a command imports: help describes every command without what commands work with."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.main import NOUNS

# Runs the command, then prints the names of the modules that it imported.
PROBE = """
import sys
from gateway.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules)
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


def imported_by(*arguments: str) -> set[str]:
    """The modules that a process has imported after it ran the command."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "command", ["", *NOUNS, "workspaces status"], ids=lambda command: command or "duograph"
)
def test_help_imports_neither_the_schema_nor_a_database_driver(command: str) -> None:
    assert imported_by(*command.split(), "--help") & (SURFACES | DATABASES) == set()


def test_the_list_of_commands_imports_few_modules() -> None:
    """351 when this was written, most of them to draw the help: 0.25 s of processor time."""
    assert len(imported_by("--help")) < 400


def test_a_gateway_imports_no_library_that_it_may_never_need(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GATEWAY],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert set(done.stdout.split()) & {"alembic", "fastapi", "limits", "redis"} == set()


def test_a_migration_imports_no_surface(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUOGRAPH_DATABASE_URL", f"sqlite:///{tmp_path}/duograph.sqlite")
    assert imported_by("migrate") & SURFACES == set()
