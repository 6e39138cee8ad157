"""Where the numbers of a process come from that are not counted for each request."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from gateway.background.tasks import BackgroundTask
from gateway.monitoring import declarations as metrics
from gateway.webhooks.recording import OUTCOMES, outcomes
from resolvers.graph.http import allow_lists, persisted, requests
from resolvers.graph.survey.documents import Documents
from resolvers.operations import security_events, used_inputs
from resolvers.operations.http import compression
from rest_compat.routing import reading
from storage.clock import now
from storage.cluster.watching import NodeWatch
from storage.engine.database import Database
from storage.engine.replica import State
from storage.queues.backlog import read_backlog
from storage.upkeep.folding import Fold

if TYPE_CHECKING:
    from gateway.monitoring.meters import Meters

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
    nodes: NodeWatch
    # How late the loop's timer ran, lately.
    latenesses: deque[float] = field(default_factory=lambda: deque([0.0], maxlen=LATENESSES_KEPT))

    def tell(self, meters: "Meters") -> None:
        self._tell_of_database(meters)
        for name, size in self._caches().items():
            meters.tell(metrics.CACHED, size, name)
        for task in self.tasks:
            meters.tell(metrics.RUNS, task.runs, task.name)
            for reason, failures in task.failures.items():
                meters.tell(metrics.FAILURES, failures, task.name, reason)
        for event, number in security_events.counts.items():
            meters.tell(metrics.SECURITY_EVENTS, number, *event)
        for outcome in OUTCOMES:
            meters.tell(metrics.WEBHOOKS, outcomes[outcome], outcome)
        meters.tell(metrics.FOLD_LAG, self.fold.lag)
        meters.tell(metrics.LOOP_LAG, max(self.latenesses))
        meters.tell(metrics.PROCESSES, 1)
        meters.tell(metrics.RESIDENT, _resident_bytes())
        meters.tell(metrics.PROCESSOR, time.process_time())

    def _tell_of_database(self, meters: "Meters") -> None:
        for name, pool in self.database.pools.items():
            meters.tell(metrics.CONNECTIONS, pool.used, name, "used")
            meters.tell(metrics.CONNECTIONS, pool.free, name, "free")
            meters.tell(metrics.MOST_CONNECTIONS, pool.size, name)
            meters.tell(metrics.WAITING, pool.waiting, name)
        replica = self.database.replica
        current = NO_REPLICA if replica is None else replica.state
        for state in (*State, NO_REPLICA):
            meters.tell(metrics.REPLICA, state == current, state)
        meters.tell(metrics.REPLICA_LAG, 0.0 if replica is None else replica.lag)
        meters.tell(metrics.LOST_NODES, len(self.nodes.lost))

    def _caches(self) -> dict[str, int]:
        return {
            "documents": self.documents.size,
            "introspection answers": self.documents.answers.size,
            "graphql requests": requests.kept_bytes(),
            "rest arguments": reading.kept_bytes(),
            "documents by hash": persisted.kept_bytes(),
            "allow-lists": allow_lists.kept_bytes(),
            "input names": used_inputs.kept_bytes(),
            "compressed answers": compression.kept_bytes(),
        }


class Questions:
    """What is asked of the database: at most every 10 seconds, however often Prometheus asks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asking = asyncio.Lock()
        self._asked_at = -inf

    async def tell(self, meters: "Meters") -> None:
        async with self._asking:
            if time.monotonic() - self._asked_at >= SECONDS_BETWEEN_QUESTIONS:
                await self._ask(meters)
                self._asked_at = time.monotonic()

    async def _ask(self, meters: "Meters") -> None:
        began = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                backlog = await read_backlog(self._database)
        except (SQLAlchemyError, OSError):  # A timeout is an OSError.
            meters.tell(metrics.DATABASE_UP, 0)
            return
        oldest = 0.0 if backlog.oldest_mail is None else (now() - backlog.oldest_mail).total_seconds()
        meters.tell(metrics.DATABASE_UP, 1)
        meters.tell(metrics.DATABASE_SECONDS, time.monotonic() - began)
        meters.tell(metrics.DELTAS_WAITING, backlog.deltas)
        meters.tell(metrics.MAILS_WAITING, backlog.mails)
        meters.tell(metrics.OLDEST_MAIL, max(oldest, 0.0))
        due = 0.0 if backlog.webhook_due_at is None else (now() - backlog.webhook_due_at).total_seconds()
        meters.tell(metrics.WEBHOOKS_WAITING, backlog.webhooks)
        meters.tell(metrics.OLDEST_WEBHOOK, max(due, 0.0))
        meters.tell(metrics.OPEN_UPLOADS, backlog.open_uploads)
        meters.tell(metrics.IDEMPOTENCY_KEYS, backlog.idempotency_keys)


def _resident_bytes() -> int:
    """As Linux shows it; 0 elsewhere."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - opened every second
            return int(file.read().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0
