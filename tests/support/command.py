"""The command `duograph` as a shell runs it: a process of its own, in a directory of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAM = (sys.executable, "-m", "gateway.cli.main")
PATIENCE_SECONDS = 180


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Command:
    """Runs in `directory`, with no settings but `settings`."""

    directory: Path
    settings: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, **settings: str) -> Outcome:
        done = subprocess.run(
            [*PROGRAM, *arguments],
            cwd=self.directory,
            env=self.environ(**settings),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def json(self, *arguments: str, **settings: str) -> Any:
        """What a run that succeeds prints with `--json`: one line that is one object."""
        outcome = self.run(*arguments, "--json", **settings)
        assert outcome.status == 0, outcome.stderr
        assert outcome.stderr == ""
        (line,) = outcome.stdout.splitlines()
        return json.loads(line)

    def refusal(self, *arguments: str, status: int = 1, **settings: str) -> str:
        """The one sentence on standard error of a run that fails and prints nothing else."""
        outcome = self.run(*arguments, "--json", **settings)
        assert outcome.status == status, outcome
        assert outcome.stdout == ""
        (line,) = outcome.stderr.splitlines()
        return line

    def environ(self, **settings: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DUOGRAPH_")}
        return kept | self.settings | settings
