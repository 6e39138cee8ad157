"""Tests fork the command from a process that has imported it: a fork is what a start would be."""

import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands.command import PATIENCE_SECONDS, Command
from tests.support.measures.patience import eventually

# How it meets signals, and what else a fork might inherit.
FIELDS = ("Umask", "SigBlk", "SigIgn", "SigCgt", "Threads", "NoNewPrivs")


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "stdin", "settings"),
    [
        (("tokens", "list"), "", {}),
        (("usres",), "", {}),
        (("doctor", "--json"), "", {"DUOGRAPH_ENV": "production"}),
        (("users", "create", "--email", "ada@example.com"), "an orchard lantern", {}),
        (("workspaces", "delete", "acme"), "y\n", {"COLUMNS": "30"}),
        (("metrics", "--help"), "", {"COLUMNS": "60"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_fork_prints_and_ends_as_a_start_does(
    command: Command, own_start: Command, arguments: tuple[str, ...], stdin: str, settings: dict[str, str]
) -> None:
    forked, started = (each.run(*arguments, stdin=stdin, **settings) for each in (command, own_start))
    assert forked == started


def state_of(pid: int) -> dict[str, Any]:
    """What a process has of its own."""
    process = Path(f"/proc/{pid}")
    fields = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
    names = []
    for file in (process / "fd").iterdir():
        # Connections to the database come and go, also between the list and the look at one of it.
        with suppress(FileNotFoundError):
            names.append(str(file.readlink()))
    # Each socket and pipe has a number of its own.
    files = sorted(re.sub(r"\d+", "", name) for name in names if "duograph.sqlite" not in name)
    return {
        "status": {name: fields[name].strip() for name in FIELDS},
        "files": files,
        "directory": (process / "cwd").readlink(),
    }


def test_a_forked_server_has_the_files_signals_and_directory_of_a_started_one(
    command: Command, own_start: Command
) -> None:
    arguments = ("serve", "--port", "0")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with command.start(*arguments, **pipes) as forked, own_start.start(*arguments, **pipes) as started:
        both = (forked, started)
        for process in both:
            assert process.stdout is not None
            assert process.stdout.readline()
        # Threads come with the first work of a start and with the connections that it opens.
        assert eventually(lambda: state_of(forked.pid) == state_of(started.pid))
        for process in both:
            process.terminate()
            assert process.wait(PATIENCE_SECONDS) == 0


def test_a_fork_tells_the_signal_that_killed_it(command: Command) -> None:
    with command.start("serve", "--port", "0", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        assert process.poll() is None
        process.kill()
    assert process.returncode == -signal.SIGKILL


def test_a_fork_refuses_variables_that_its_imports_may_have_read(command: Command) -> None:
    with pytest.raises(AssertionError, match="NO_COLOR"):
        command.run("--version", NO_COLOR="1")
