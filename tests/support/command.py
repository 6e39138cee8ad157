"""The command `duograph` as a shell runs it: a process of its own, in a directory of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.patience import PATIENCE_SECONDS
from tests.support.pooler import every_test_is_pooled

PROGRAM = (sys.executable, "-m", "gateway.cli.main")


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Command:
    """Runs `program` in `directory`, with no settings but `settings`.

    `handed` are open files that the process inherits by their numbers.
    """

    directory: Path
    settings: dict[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = PROGRAM

    def run(self, *arguments: str, stdin: str = "", handed: Collection[int] = (), **settings: str) -> Outcome:
        done = subprocess.run(
            [*self.program, *arguments],
            cwd=self.directory,
            env=self.environ(**settings),
            input=stdin,
            pass_fds=handed,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def json(self, *arguments: str, stdin: str = "", **settings: str) -> Any:
        """What a run that succeeds prints with `--json`: one line that is one object."""
        outcome = self.run(*arguments, "--json", stdin=stdin, **settings)
        assert outcome.status == 0, outcome.stderr
        assert outcome.stderr == ""
        (line,) = outcome.stdout.splitlines()
        return json.loads(line)

    def refusal(
        self,
        *arguments: str,
        status: int = 1,
        stdin: str = "",
        handed: Collection[int] = (),
        **settings: str,
    ) -> str:
        """The sentence of a run that fails; with `--json` it is in one object on standard error."""
        outcome = self.run(*arguments, "--json", stdin=stdin, handed=handed, **settings)
        assert outcome.status == status, outcome
        assert outcome.stdout == ""
        (line,) = outcome.stderr.splitlines()
        error = json.loads(line)
        assert error.keys() == {"error", "detail"}
        assert error["error"] == {1: "failed", 2: "usage", 130: "cancelled"}[status]
        detail: str = error["detail"]
        return detail

    def environ(self, **settings: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DUOGRAPH_")}
        pooled = {"DUOGRAPH_DATABASE_POOLER": "transaction"} if every_test_is_pooled() else {}
        return kept | pooled | self.settings | settings
