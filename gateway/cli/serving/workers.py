"""Several processes that serve one socket, forked from one that has built the gateway.

They share the memory of modules, models and schemas, and start in milliseconds. The parent serves nothing
itself: threads and connections do not survive a fork, so it must not have any.
"""

import multiprocessing
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from time import monotonic
from typing import TYPE_CHECKING, NoReturn

import structlog
import uvicorn

if TYPE_CHECKING:
    from gateway.monitoring.meters import Shared

log = structlog.get_logger()

STOPS = (signal.SIGINT, signal.SIGTERM)
SIGNALS = (*STOPS, signal.SIGHUP, signal.SIGTTIN, signal.SIGTTOU)

SECONDS_BETWEEN_BEATS = 5
# A process that has not beaten for so long hangs; one that stops has as long to do so.
LONGEST_SILENCE = 60
SECONDS_BEFORE_ANOTHER_START = 1

_fork = multiprocessing.get_context("fork")


@dataclass(eq=False)
class Worker:
    """A process with the pipe on which it beats, from its start on, and its place in the shared metrics."""

    process: ForkProcess
    beats: Connection
    place: int
    last_beat: float = field(default_factory=monotonic)
    ready: bool = False
    stopping: bool = False

    def listen(self) -> None:
        """Take note of the beats that have arrived."""
        with suppress(EOFError):
            while self.beats.poll():
                self.beats.recv_bytes()
                self.ready, self.last_beat = True, monotonic()

    def stop(self) -> None:
        """Let it finish its requests and end."""
        self.stopping, self.last_beat = True, monotonic()
        self.process.terminate()


class Workers:
    """Keeps `count` processes running until SIGINT or SIGTERM.

    SIGHUP replaces each process by a new one; SIGTTIN adds a process and SIGTTOU removes one. With `shared`
    metrics, each process has its own place there.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        listener: socket.socket,
        count: int,
        announce: Callable[[], None],
        *,
        shared: "Shared | None" = None,
    ) -> None:
        self._config, self._listener, self._count, self._announce = config, listener, count, announce
        self._shared = shared
        self._workers: list[Worker] = []
        self._outdated: list[Worker] = []
        self._stopping = self._announced = False
        self._next_start = 0.0

    def run(self) -> bool:
        """Run the processes and return whether any of them has ever served."""
        received, wakeup = socket.socketpair()
        for end in (received, wakeup):
            end.setblocking(False)
        for each in SIGNALS:
            signal.signal(each, _noticed)
        signal.set_wakeup_fd(wakeup.fileno())
        while not self._stopping or self._workers:
            self._balance()
            watched = [part for worker in self._workers for part in (worker.beats, worker.process.sentinel)]
            if received in wait([received, *watched], timeout=1):
                for number in received.recv(256):
                    self._handle(signal.Signals(number))
            for worker in list(self._workers):
                self._check(worker)
        return self._announced

    def _handle(self, number: signal.Signals) -> None:
        log.info("signal received", signal=number.name)
        if number in STOPS:
            self._stopping = True
        elif number == signal.SIGHUP:
            self._outdated = [worker for worker in self._workers if not worker.stopping]
        else:
            self._count = max(1, self._count + (1 if number == signal.SIGTTIN else -1))

    def _balance(self) -> None:
        """Start and stop processes until as many run as should; one is replaced once its successor serves."""
        active = [worker for worker in self._workers if not worker.stopping]
        most = self._count + bool(self._outdated)
        if self._stopping:
            surplus = active
        elif self._outdated and len(active) >= most and all(worker.ready for worker in active):
            surplus = [self._outdated.pop()]
        else:
            surplus = active[most:]
        for worker in surplus:
            worker.stop()
        if not self._stopping and monotonic() >= self._next_start:
            for _ in range(most - len(active)):
                self._workers.append(self._start())

    def _check(self, worker: Worker) -> None:
        """Forget the process if it has ended; kill it if it hangs."""
        worker.listen()
        if worker.ready and not self._announced:
            self._announced = True
            self._announce()
        if worker.process.exitcode is not None:
            self._forget(worker)
        elif monotonic() - worker.last_beat > LONGEST_SILENCE:
            log.error("a worker hangs and is killed", pid=worker.process.pid)
            worker.process.kill()

    def _forget(self, worker: Worker) -> None:
        self._workers.remove(worker)
        if worker in self._outdated:
            self._outdated.remove(worker)
        if self._shared is not None:
            self._shared.free(worker.place)
        pid, status = worker.process.pid, worker.process.exitcode
        worker.beats.close()
        worker.process.close()
        if worker.stopping:
            return
        log.error("a worker died", pid=pid, status=status)
        self._next_start = monotonic() + SECONDS_BEFORE_ANOTHER_START
        # What fails at the first start fails at every start.
        self._stopping = self._stopping or not self._announced

    def _start(self) -> Worker:
        beats, beating = _fork.Pipe(duplex=False)
        taken = {worker.place for worker in self._workers}
        place = next(number for number in count() if number not in taken)
        process = _fork.Process(target=self._serve, args=(beating, os.getpid(), place))
        # A signal waits until the new process has its own handlers.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        process.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        beating.close()
        return Worker(process, beats, place)

    def _serve(self, beating: Connection, parent: int, place: int) -> None:
        """Serve in the new process until it is told to stop or its parent is gone."""
        signal.set_wakeup_fd(-1)
        for each in SIGNALS:
            signal.signal(each, _end if each in STOPS else signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        if self._shared is not None:
            self._shared.take(place)
        try:
            BeatingServer(self._config, beating, parent).run([self._listener])
        except Exception:
            # The usual report would repeat the message, which may contain values.
            log.exception("a worker failed")
            sys.exit(1)


class BeatingServer(uvicorn.Server):
    """A server that tells its parent every few seconds that it runs."""

    def __init__(self, config: uvicorn.Config, beating: Connection, parent: int) -> None:
        super().__init__(config)
        self._beating, self._parent, self._next_beat = beating, parent, 0.0

    async def on_tick(self, counter: int) -> bool:
        if os.getppid() != self._parent:
            return True
        if monotonic() >= self._next_beat:
            self._next_beat = monotonic() + SECONDS_BETWEEN_BEATS
            self._beating.send_bytes(b"1")
        return await super().on_tick(counter)


def _noticed(*_: object) -> None:
    """The signal's number waits on the wake-up socket."""


def _end(*_: object) -> NoReturn:
    """End before uvicorn listens to signals, and after it has finished and raises the signal again."""
    sys.exit(0)
