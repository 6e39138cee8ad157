"""What a command imports: help describes every command without what commands work with."""

import subprocess
import sys

import pytest

from gateway.cli.main import NOUNS
from tests.support.command import PATIENCE_SECONDS

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
# What a command needs for its work, and no command for its help.
HEAVY = set(
    "aiosqlite alembic asyncpg fastapi oauth pydantic.main redis resolvers rest_compat schema.base sqlalchemy "
    "sqlmodel storage.database strawberry uvicorn".split()
)


def imported_by(*arguments: str) -> set[str]:
    """The modules that a process has imported after it ran the command."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "noun", [(), *((noun,) for noun in NOUNS)], ids=lambda words: " ".join(words) or "all"
)
def test_help_imports_neither_the_vocabulary_nor_a_database_driver(noun: tuple[str, ...]) -> None:
    assert not imported_by(*noun, "--help") & HEAVY


def test_the_help_of_an_operation_imports_no_more_than_that_of_its_noun() -> None:
    assert not imported_by("workspaces", "status", "--help") & HEAVY
