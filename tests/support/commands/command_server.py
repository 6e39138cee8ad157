"""A process that has imported every command, and turns into one by a fork.

A command that imports the application takes two seconds of processor time; a fork takes milliseconds.
"""

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from struct import Struct
from typing import NoReturn

PACKAGES = ("gateway", "rest_compat", "resolvers", "schema", "oauth", "storage")
# Alembic executes its environment and the revisions; traces need packages that may be missing.
NOT_IMPORTED = ("storage.migrations.env", "storage.migrations.versions", "gateway.monitoring.tracing")
# Uvicorn imports these when it runs.
BESIDES = ("uvicorn.lifespan.on", "uvicorn.loops.uvloop")
MOST_FILES = 64
NUMBER = Struct("!i")


@dataclass(frozen=True)
class Request:
    """A run of the command: `numbers` are those that its open files are to have."""

    arguments: list[str]
    directory: str
    environ: dict[str, str]
    numbers: list[int]
    new_session: bool


def send(channel: socket.socket, request: Request, teller: socket.socket, files: list[int]) -> None:
    """Ask for a run with these open files. The process's id and its exit status arrive through `teller`."""
    body = json.dumps(asdict(request)).encode()
    socket.send_fds(channel, [NUMBER.pack(len(body))], [teller.fileno(), *files])
    channel.sendall(body)


def read_number(teller: socket.socket) -> int:
    """The next number that the server tells."""
    told = teller.recv(NUMBER.size)
    assert told, "The server of commands has ended."
    number: int = NUMBER.unpack(told)[0]
    return number


def _tell(teller: socket.socket, number: int) -> None:
    # A test that was interrupted does not wait for the answer.
    with suppress(OSError):
        teller.sendall(NUMBER.pack(number))


def _receive(channel: socket.socket) -> tuple[Request, socket.socket, list[int]]:
    """What `send` sent. The end of the tests is the end of the channel, and of this process."""
    length, files, _, _ = socket.recv_fds(channel, NUMBER.size, MOST_FILES)
    if not length:
        sys.exit()
    body = channel.recv(NUMBER.unpack(length)[0], socket.MSG_WAITALL)
    return Request(**json.loads(body)), socket.socket(fileno=files[0]), files[1:]


class CommandServer:
    """Forks for each request that arrives on `channel`."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._running: dict[int, socket.socket] = {}
        self._ended, self._wakeup = socket.socketpair()
        self._selector = selectors.DefaultSelector()

    def run(self) -> tuple[Request, list[int]]:
        """Serve. This returns in a fork only, with what it is to run and its open files."""
        for end in (self._ended, self._wakeup):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, _noticed)
        signal.set_wakeup_fd(self._wakeup.fileno())
        for source in (self._channel, self._ended):
            self._selector.register(source, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in self._selector.select()}
            if self._ended in ready:
                self._ended.recv(4096)
                self._tell_of_the_ended()
            if self._channel in ready:
                request, teller, files = _receive(self._channel)
                if pid := os.fork():
                    self._running[pid] = teller
                    _tell(teller, pid)
                    for file in files:
                        os.close(file)
                else:
                    self._forget(teller)
                    return request, files

    def _tell_of_the_ended(self) -> None:
        while self._running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._running.pop(pid) as teller:
                _tell(teller, os.waitstatus_to_exitcode(status))

    def _forget(self, teller: socket.socket) -> None:
        """Leave a fork nothing of the server."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for each in (self._channel, self._ended, self._wakeup, teller, *self._running.values()):
            each.close()


def _noticed(*_: object) -> None:
    """The signal's number waits on the wake-up socket."""


def import_everything() -> None:
    """Import what any command imports. Raises `ImportError`, also if an import says something."""
    with redirect_stderr(io.StringIO()) as said:
        for name in (*PACKAGES, *BESIDES):
            _import(name)
    if said.getvalue():
        raise ImportError(said.getvalue())


def _import(name: str) -> None:
    """The module and those below it."""
    module = importlib.import_module(name)
    for below in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}."):
        if below.name not in NOT_IMPORTED:
            _import(below.name)


def turn_into(request: Request, files: list[int]) -> None:
    """Make this fork the process that `python -m gateway.cli.main` is when it begins."""
    if request.new_session:
        os.setsid()
    _number(files, request.numbers)
    as_text = {"encoding": sys.stdin.encoding, "errors": sys.stdin.errors}
    sys.stdin = sys.__stdin__ = os.fdopen(0, **as_text, closefd=False)
    sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())
    os.environ.clear()
    os.environ.update(request.environ)
    time.tzset()
    os.chdir(request.directory)
    sys.path[0] = request.directory
    sys.argv[1:] = request.arguments
    gc.enable()


def _number(files: list[int], numbers: list[int]) -> None:
    """Give the open files these numbers, and close all other files."""
    # One file may have the number that another is to have.
    lowest = max(*numbers, *files) + 1
    for place, file in enumerate(files):
        os.dup2(file, lowest + place)
    for place, number in enumerate(numbers):
        os.dup2(lowest + place, number)
    for number in sorted({int(each.name) for each in Path("/dev/fd").iterdir()} - set(numbers)):
        # One was that of the list itself.
        with suppress(OSError):
            os.close(number)


class End:
    """The end of a fork, as of any process, but for the long work of taking imported modules apart."""

    def __init__(self) -> None:
        """It comes after what modules that are imported from now on do at the end."""
        self._status: int | None = None
        atexit.register(self._leave)

    def of(self, command: Callable[[], NoReturn]) -> NoReturn:
        try:
            command()
        except SystemExit as end:
            self._status = end.code if isinstance(end.code, int) else None
            raise

    def _leave(self) -> None:
        # What cannot be written is reported as the interpreter does.
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
            if self._status is not None:
                os._exit(self._status)


def main() -> NoReturn:
    end = End()
    gc.disable()
    import_everything()
    assert threading.active_count() == 1, "A thread does not survive a fork."
    gc.freeze()
    try:
        request, files = CommandServer(socket.socket(fileno=os.dup(0))).run()
    except KeyboardInterrupt:
        # The tests end, too.
        sys.exit(130)
    turn_into(request, files)
    end.of(sys.modules["gateway.cli.main"].main)


if __name__ == "__main__":
    main()
