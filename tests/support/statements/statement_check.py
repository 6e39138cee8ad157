"""Looks at every statement that the product runs on PostgreSQL in this process, whoever causes it.

A statement on tenant tables has to name its workspaces: `tenant_statements.py` says how.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import greenlet
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from storage.engine.connections import PostgresqlConnection
from storage.engine.statements.kept import KeptText
from tests.support.statements.statement_exceptions import REACHES
from tests.support.statements.tenant_statements import Complaint, complaints_about

ROOT = Path(__file__).parents[3]
# What passes statements on, for everybody.
_PLUMBING = frozenset(
    {
        "resolvers/operations/context.py",
        "storage/engine/before_commit.py",
        "storage/engine/connections.py",
        "storage/engine/database.py",
        "storage/cluster/connections.py",
        "storage/cluster/nodes.py",
        "storage/engine/pool.py",
        "storage/engine/replica.py",
        "storage/rows/rows.py",
        "storage/rows/named_rows.py",
        "storage/rows/updates.py",
        "storage/engine/inserts.py",
        "storage/engine/upserts.py",
        "storage/engine/statements/watched.py",
        "tests/support/statements/statement_check.py",
    }
)


class StatementCheck:
    """Statements that have to name workspaces and do not: `found` has a description of each.

    `asking` has the module and the function that ran a text first.
    """

    def __init__(self) -> None:
        self.found: list[str] = []
        self.asking: dict[str, tuple[str, str]] = {}
        self._complaints: dict[str, list[Complaint]] = {}

    def take(self) -> list[str]:
        """What was found since the last look."""
        found, self.found = self.found, []
        return found

    def look_at(self, text: str) -> None:
        complaints = self._complaints.get(text)
        if complaints is None:
            complaints = self._complaints[text] = complaints_about(text)
            self.asking[text] = _asking()
        if complaints:
            module, function = _asking()
            if module.startswith("tests/"):
                return
            for complaint in complaints:
                if not any(reach.covers(module, function, complaint) for reach in REACHES):
                    self.found.append(f"{module}, {function}: {complaint}:\n{text}")


def _asking() -> tuple[str, str]:
    """The module and the function that run the statement at hand."""
    for frame in _frames():
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT) and ".venv" not in path.parts:
            name = path.relative_to(ROOT).as_posix()
            if name not in _PLUMBING:
                return name, frame.f_code.co_qualname
    return "?", "?"


def _frames() -> Iterator[FrameType]:
    """The frames from here outwards, also those around a greenlet of SQLAlchemy's."""
    frame: FrameType | None = sys._getframe()
    around = greenlet.getcurrent().parent
    while frame is not None:
        yield frame
        frame = frame.f_back
        if frame is None and around is not None:
            frame, around = around.gr_frame, around.parent


@contextmanager
def checking() -> Iterator[StatementCheck]:
    """Looks at all statements, on all databases, until the block ends."""
    check = StatementCheck()

    prepare = PostgresqlConnection._prepare

    async def look_and_prepare(connection: PostgresqlConnection, written: KeptText) -> Any:
        """Each connection prepares a kept statement once: looking then costs nothing at its later uses."""
        check.look_at(written.text)
        return await prepare(connection, written)

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if connection.dialect.name == "postgresql":
            check.look_at(statement)

    event.listen(Engine, "before_cursor_execute", note)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresqlConnection, "_prepare", look_and_prepare)
        yield check
    event.remove(Engine, "before_cursor_execute", note)
