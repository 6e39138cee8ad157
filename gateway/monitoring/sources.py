"""Where the numbers of a process come from that are not counted for each request."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

from sqlalchemy.exc import SQLAlchemyError

from gateway.background.tasks import BackgroundTask
from gateway.monitoring import declarations as metrics
from gateway.monitoring.numbers import Sample
from resolvers.graph.http import allow_lists, persisted, requests
from resolvers.graph.survey.documents import Documents
from resolvers.operations import used_inputs
from rest_compat.routing import reading
from storage.clock import now
from storage.engine.database import Database
from storage.engine.replica import State
from storage.upkeep.backlog import read_backlog
from storage.upkeep.folding import Fold

SECONDS_BETWEEN_QUESTIONS = 10
PATIENCE_SECONDS = 5
LATENESSES_KEPT = 15
NO_REPLICA = "none"

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Sources:
    """The parts of a gateway that are looked at."""

    database: Database
    documents: Documents
    fold: Fold
    tasks: Sequence[BackgroundTask]
    # How late the loop's timer ran, lately.
    latenesses: deque[float] = field(default_factory=lambda: deque([0.0], maxlen=LATENESSES_KEPT))

    def samples(self) -> Iterator[Sample]:
        yield from self._of_database()
        for name, size in self._caches().items():
            yield Sample(metrics.CACHED.name, (name,), [size])
        for task in self.tasks:
            yield Sample(metrics.RUNS.name, (task.name,), [task.runs])
            yield Sample(metrics.FAILURES.name, (task.name,), [task.failures])
        yield Sample(metrics.FOLD_LAG.name, (), [self.fold.lag])
        yield Sample(metrics.LOOP_LAG.name, (), [max(self.latenesses)])
        yield Sample(metrics.PROCESSES.name, (), [1])
        yield Sample(metrics.RESIDENT.name, (), [_resident_bytes()])
        yield Sample(metrics.PROCESSOR.name, (), [time.process_time()])

    def _of_database(self) -> Iterator[Sample]:
        for name, pool in self.database.pools.items():
            yield Sample(metrics.CONNECTIONS.name, (name, "used"), [pool.used])
            yield Sample(metrics.CONNECTIONS.name, (name, "free"), [pool.free])
            yield Sample(metrics.MOST_CONNECTIONS.name, (name,), [pool.size])
            yield Sample(metrics.WAITING.name, (name,), [pool.waiting])
        replica = self.database.replica
        current = NO_REPLICA if replica is None else replica.state
        for state in (*State, NO_REPLICA):
            yield Sample(metrics.REPLICA.name, (state,), [state == current])
        yield Sample(metrics.REPLICA_LAG.name, (), [0.0 if replica is None else replica.lag])

    def _caches(self) -> dict[str, int]:
        return {
            "documents": self.documents.parsed.size,
            "introspection answers": self.documents.answers.size,
            "graphql requests": requests.kept_bytes(),
            "rest arguments": reading.kept_bytes(),
            "documents by hash": persisted.kept_bytes(),
            "allow-lists": allow_lists.kept_bytes(),
            "input names": used_inputs.kept_bytes(),
        }


class Questions:
    """What is asked of the database: at most every 10 seconds, however often Prometheus asks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asking = asyncio.Lock()
        self._asked_at = -inf
        self._samples: list[Sample] = []

    async def samples(self) -> list[Sample]:
        async with self._asking:
            if time.monotonic() - self._asked_at >= SECONDS_BETWEEN_QUESTIONS:
                self._samples = await self._ask()
                self._asked_at = time.monotonic()
            return self._samples

    async def _ask(self) -> list[Sample]:
        began = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                backlog = await read_backlog(self._database)
        except (SQLAlchemyError, OSError):  # A timeout is an OSError.
            return [Sample(metrics.DATABASE_UP.name, (), [0])]
        oldest = 0.0 if backlog.oldest_mail is None else (now() - backlog.oldest_mail).total_seconds()
        answers = {
            metrics.DATABASE_UP: 1,
            metrics.DATABASE_SECONDS: time.monotonic() - began,
            metrics.DELTAS_WAITING: backlog.deltas,
            metrics.MAILS_WAITING: backlog.mails,
            metrics.OLDEST_MAIL: max(oldest, 0.0),
            metrics.OPEN_UPLOADS: backlog.open_uploads,
            metrics.IDEMPOTENCY_KEYS: backlog.idempotency_keys,
        }
        return [Sample(metric.name, (), [number]) for metric, number in answers.items()]


def _resident_bytes() -> int:
    """As Linux shows it; 0 elsewhere."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - opened every second
            return int(file.read().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0
