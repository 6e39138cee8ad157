"""Runs of the command `duograph` as forks of one process that has imported it, with the ways of a `Popen`."""

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, TimeoutExpired
from typing import IO, Any, Self

from tests.support.commands.command_server import Request, read_number, send

ROOT = Path(__file__).parents[3]
# Commands read these when they run; others may have been read by what is imported already.
READ_LATE = ("DUOGRAPH_", "PYTEST_", "COLUMNS")
File = int | IO[Any] | None


class _Server:
    """The process that forks. It lives as long as this one."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        self._environ, self._asking = dict(os.environ), threading.Lock()
        command = [sys.executable, "-m", "tests.support.commands.command_server"]
        with theirs:
            self._process = subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=DEVNULL)
        atexit.register(self._end)

    def ask(self, request: Request, files: list[int]) -> socket.socket:
        """Where the id of the new process arrives and, once it has ended, its exit status."""
        unlike = {name for name, _ in self._environ.items() ^ request.environ.items()}
        early = [name for name in unlike if not name.startswith(READ_LATE)]
        assert not early, f"A run with {early} of its own has to be a process of its own: use `PROGRAM`."
        ours, theirs = socket.socketpair()
        with theirs, self._asking:
            send(self._channel, request, theirs, files)
        return ours

    def _end(self) -> None:
        self._channel.close()
        self._process.wait()


_server = cache(_Server)


class CommandProcess:
    """A run that has begun. `stdout` and `stderr` are as `Popen` takes them; pipes are of text."""

    def __init__(
        self,
        arguments: Sequence[str],
        directory: Path,
        environ: dict[str, str],
        *,
        stdin: File = None,
        stdout: File = None,
        stderr: File = None,
        handed: Collection[int] = (),
        new_session: bool = False,
    ) -> None:
        self.args = ("duograph", *arguments)
        self.returncode: int | None = None
        self._answering = threading.Lock()
        with ExitStack() as theirs:
            (_, given), (self.stdout, out), (self.stderr, told) = (
                _ends(file, number, theirs) for number, file in enumerate((stdin, stdout, stderr))
            )
            numbers = [0, 1, 2, *handed]
            request = Request(list(arguments), str(directory), environ, numbers, new_session)
            self._answers = _server().ask(request, [given, out, told, *handed])
        self.pid = read_number(self._answers)

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, or the signal that ended it as a negative number. Raises `TimeoutExpired`."""
        if not self._answering.acquire(timeout=-1 if timeout is None else timeout):
            raise TimeoutExpired(self.args, timeout or 0)
        try:
            if self.returncode is None:
                self._answers.settimeout(timeout)
                self.returncode = read_number(self._answers)
                self._answers.close()
            return self.returncode
        except (TimeoutError, BlockingIOError):
            raise TimeoutExpired(self.args, timeout or 0) from None
        finally:
            self._answering.release()

    def poll(self) -> int | None:
        """The exit status, None while it runs."""
        try:
            return self.wait(0)
        except TimeoutExpired:
            return None

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end of a run that says little: what is left in its pipes. Raises `TimeoutExpired`."""
        self.wait(timeout)
        out, told = (_rest_of(stream) for stream in (self.stdout, self.stderr))
        return out, told

    def send_signal(self, number: int) -> None:
        # A run that has ended is gone before its exit status arrives.
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the pipes and wait for the end."""
        for stream in (self.stdout, self.stderr):
            if stream:
                stream.close()
        self.wait()


def _rest_of(stream: IO[str] | None) -> str:
    if stream is None:
        return ""
    with stream:
        return stream.read()


def _ends(file: File, number: int, theirs: ExitStack) -> tuple[IO[str] | None, int]:
    """Our end of a pipe, if it is one, and what the run has as its file of this number."""
    if file is None:
        return None, number
    if file == DEVNULL:
        return None, _closed_with(theirs, os.open(os.devnull, os.O_RDWR))
    if file != PIPE:
        return None, file if isinstance(file, int) else file.fileno()
    read, write = os.pipe()
    return os.fdopen(read, encoding="utf-8"), _closed_with(theirs, write)


def _closed_with(stack: ExitStack, file: int) -> int:
    stack.callback(os.close, file)
    return file
