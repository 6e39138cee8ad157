"""Runs of the command in a terminal, into which lines are typed at its prompts."""

import os
import pty
import re
from collections.abc import Sequence
from contextlib import suppress

from tests.support.commands.command import Command
from tests.support.measures.patience import PATIENCE_SECONDS

PROMPT = re.compile(r"(?:Password|confirmation|\[y/N\]): ")
# What moves the cursor, colours or clears.
_CONTROL = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")


def typed(command: Command, *arguments: str, lines: Sequence[str] = ()) -> tuple[int, str]:
    """The exit status and what a terminal shows, into which the lines are typed, one at each prompt."""
    ours, terminal = pty.openpty()
    files = {"stdin": terminal, "stdout": terminal, "stderr": terminal}
    with command.start(*arguments, **files, new_session=True, COLUMNS="120") as process:
        os.close(terminal)
        shown = ""
        for line in lines:
            before = len(PROMPT.findall(shown))
            while len(PROMPT.findall(shown)) == before:
                shown += os.read(ours, 1024).decode()
            os.write(ours, f"{line}\n".encode())
        written = b""
        with suppress(OSError):  # The terminal's other end is closed when the run ends.
            while rest := os.read(ours, 1024):
                written += rest
        process.wait(PATIENCE_SECONDS)
    os.close(ours)
    return process.returncode, _CONTROL.sub("", shown + written.decode())
