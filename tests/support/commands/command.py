"""The command `duograph` as a shell runs it: a process of its own, in a directory of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from tests.support.commands.command_process import CommandProcess, File
from tests.support.measures.patience import PATIENCE_SECONDS
from tests.support.servers.pooler import every_test_is_pooled

PROGRAM = (sys.executable, "-m", "gateway.cli.main")
# Runs a program that coverage does not follow: it would import more modules, and write files of its own.
UNMEASURED = ("env", "-u", "COVERAGE_PROCESS_CONFIG")
Process = CommandProcess | subprocess.Popen[str]


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Command:
    """Runs in `directory`, with no settings but `settings`.

    With a `program`, such as `PROGRAM`, it is started as a shell does, for tests of the start itself.
    `handed` are open files that the process inherits by their numbers. A run has so many `seconds`, or with
    None as many as its test.
    """

    directory: Path
    settings: dict[str, str] = field(default_factory=dict)
    program: tuple[str, ...] | None = None
    seconds: float | None = PATIENCE_SECONDS

    def run(self, *arguments: str, stdin: str = "", handed: Collection[int] = (), **settings: str) -> Outcome:
        with (
            TemporaryFile("w+") as given,
            TemporaryFile("w+") as out,
            TemporaryFile("w+") as error,
        ):
            given.write(stdin)
            given.seek(0)
            files = {"stdin": given, "stdout": out, "stderr": error}
            with self.start(*arguments, **files, handed=handed, **settings) as process:
                try:
                    process.wait(self.seconds)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
            for file in (out, error):
                file.seek(0)
            return Outcome(process.returncode, out.read(), error.read())

    def start(
        self,
        *arguments: str,
        stdin: File = None,
        stdout: File = None,
        stderr: File = None,
        handed: Collection[int] = (),
        new_session: bool = False,
        **settings: str,
    ) -> Process:
        """Begin a run, with files as `Popen` takes them."""
        files = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        environ = self.environ(**settings)
        if self.program is None:
            return CommandProcess(
                arguments, self.directory, environ, **files, handed=handed, new_session=new_session
            )
        return subprocess.Popen(
            [*self.program, *arguments],
            cwd=self.directory,
            env=environ,
            **files,
            pass_fds=handed,
            start_new_session=new_session,
            text=True,
        )

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
