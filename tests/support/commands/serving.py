"""`duograph serve` in a process of its own, with what it prints and what it logs."""

import json
import signal
import subprocess
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.commands.command import Command
from tests.support.measures.patience import PATIENCE_SECONDS


@contextmanager
def serving(
    command: Command, *arguments: str, handed: Collection[int] = (), **settings: str
) -> Iterator[dict[str, Any]]:
    """What a server prints once it answers; it is stopped in the end, and must say so by status 0."""
    with (
        (command.directory / "log").open("w") as log,
        command.start(
            *("serve", "--port", "0", "--json", *arguments),
            stdout=subprocess.PIPE,
            stderr=log,
            handed=handed,
            **settings,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)
            left = process.communicate(timeout=PATIENCE_SECONDS)[0]
    assert (process.returncode, left) == (0, "")


def logged(command: Command) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (command.directory / "log").read_text().splitlines()]


def started(command: Command) -> list[int]:
    """The ids of the processes that have begun to serve, in their order."""
    lines = (command.directory / "log").read_text().splitlines()
    return [
        int(line.rpartition("[")[2].partition("]")[0]) for line in lines if "Started server process" in line
    ]
