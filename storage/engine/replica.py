"""A read replica: when it may answer, and what becomes of its reads when it fails."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager, nullcontext
from enum import StrEnum
from time import monotonic, monotonic_ns, thread_time
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from storage.engine.connections import DRIVER_ERRORS, Connection, Values
from storage.engine.last_writes import LastWrites
from storage.engine.outages import DatabaseUnreachable, is_lost, is_outage, is_over_limit
from storage.engine.payers import Payer
from storage.engine.pool import Connections
from storage.engine.statements.kept import Kept
from storage.engine.turns.long_work import LONG_SECONDS

log = structlog.get_logger()

SECONDS_BETWEEN_QUESTIONS = 0.2
# A replica that takes longer to say where it is, or to lend a connection, is not waited for.
PATIENCE_SECONDS = 3
SECONDS_ASIDE = 5
# Of a replica that is far behind, these positions are remembered and no later ones until it reaches them.
MOST_QUESTIONS = 100

_FAILURES = (SQLAlchemyError, *DRIVER_ERRORS)

Result = TypeVar("Result")


class State(StrEnum):
    """How a process uses its replica; one that is catching up is read once its position is known."""

    USED = "used"
    CATCHING_UP = "catching_up"
    SET_ASIDE = "set_aside"


class ReplicaFailed(Exception):
    """The replica failed during a read, which should be repeated on the primary."""


class Replica:
    """A streaming replica of PostgreSQL, which answers reads of workspaces whose last writes it surely holds.

    What it holds is known while `follow` is called again and again. That asks the primary for the position of
    its log; once the replica says that it has replayed this position, it holds every write that was committed
    before the question. Writes are noted by all processes of a host, those of other hosts are not. A replica
    that does not answer is set aside: its reads are cut, and it is tried again after `SECONDS_ASIDE`.
    """

    def __init__(self, pool: Connections, primary: Connections) -> None:
        self.pool = pool
        self.writes = LastWrites()
        self.state = State.CATCHING_UP
        self._primary = primary
        self._lent: set[Connection] = set()
        # Beside the pool, which may have no free connection. Its end is that of what it said.
        self._asking: Connection | None = None
        # Writes that were noted before this moment are held; 0 if that is not known.
        self._held_until = 0
        self._replayed = 0
        self._asked_at = 0
        self._questions: deque[_Question] = deque()
        self._next_try = 0.0
        self._is_failure_logged = False

    @property
    def lag(self) -> float:
        """Seconds since the oldest position that the replica has not reached; 0 without one."""
        return (monotonic_ns() - self._questions[0].moment) / 1e9 if self._questions else 0.0

    def holds(self, workspace_ids: Collection[UUID]) -> bool:
        """Whether the replica surely has everything that was written to these workspaces on this host."""
        asking = self._asking
        return (
            self._held_until > 0
            and asking is not None
            and not asking.is_closed()
            and self.writes.are_before(self._held_until, workspace_ids)
        )

    async def fetch(self, kept: Kept, values: Values, payer: Payer | None) -> Sequence[Any]:
        """The rows of one kept statement. Raises `ReplicaFailed`."""
        if payer is None:
            return await self.run(lambda connection: connection.fetch(kept, values))
        work, key = self.pool.long_work, payer.key
        debt = work.debt(key, kept)

        async def read(connection: Connection) -> Sequence[Any]:
            began, worked = monotonic(), thread_time()
            rows = await connection.fetch(kept, values)
            seconds = monotonic() - began
            if debt != 0 or seconds > LONG_SECONDS:
                work.note(key, kept, seconds, own_seconds=thread_time() - worked)
            return rows

        async with nullcontext() if debt == 0 else work.turn_for(key, kept):
            return await self.run(read, payer)

    async def run(
        self, read: Callable[[Connection], Awaitable[Result]], payer: Payer | None = None
    ) -> Result:
        """What `read` makes of a connection. Raises `ReplicaFailed`, also in the middle of it."""
        try:
            async with self._lend(payer) as connection:
                return await read(connection)
        except Exception as error:
            # A statement that takes too long here would take too long on the primary.
            if is_outage(error) and not is_over_limit(error):
                raise ReplicaFailed from error
            raise

    async def follow(self) -> bool:
        """Find out what the replica holds, as a background task. There is never more to do at once."""
        if self.state is State.SET_ASIDE and monotonic() < self._next_try:
            return False
        await self._ask_primary()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                replayed = await self._ask()
        except _FAILURES as error:
            await self._set_aside(type(error).__name__)
            return False
        if replayed is None:
            await self._set_aside("not a standby server")
            return False
        self._conclude(replayed)
        return False

    async def close(self) -> None:
        await self._hang_up()
        # A server that hangs would not be said goodbye to.
        self.pool.abort_free()
        await self.pool.close()

    @asynccontextmanager
    async def _lend(self, payer: Payer | None) -> AsyncIterator[Connection]:
        """A connection of the pool, which is cut if the replica is set aside."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                connection = await self.pool.take(payer)
        except TimeoutError:
            raise DatabaseUnreachable("The replica lent no connection in time.") from None
        self._lent.add(connection)
        try:
            yield connection
        except BaseException as error:
            self._lent.discard(connection)
            await self.pool.end_use(connection, error)
            raise
        self._lent.discard(connection)
        self.pool.give_back(connection)

    async def _ask_primary(self) -> None:
        """Note the primary's position, if something was written since the last one."""
        is_needed = self.writes.newest >= self._asked_at if self._held_until else not self._questions
        if not is_needed or len(self._questions) == MOST_QUESTIONS:
            return
        moment = monotonic_ns()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                ((position,),) = await self._primary.fetch(_WRITTEN, {})
        except _FAILURES:
            # The next call asks again, and every request notices that the primary is down.
            return
        self._asked_at = moment
        self._questions.append(_Question(moment, position))

    async def _ask(self) -> int | None:
        """The position that the replica has replayed; None if it is not one."""
        if self._asking is not None:
            try:
                ((replayed,),) = await self._asking.fetch(_REPLAYED, {})
            except SQLAlchemyError as error:
                if not is_lost(error):
                    raise
            except DatabaseUnreachable:
                pass
            else:
                return replayed  # type: ignore[no-any-return]
            await self._hang_up()
        self._asking = await self.pool.open()
        ((replayed,),) = await self._asking.fetch(_REPLAYED, {})
        return replayed  # type: ignore[no-any-return]

    def _conclude(self, replayed: int) -> None:
        if replayed < self._replayed:
            # A pooler has hidden that the server was started again; it may be behind where it was.
            self._held_until = 0
        self._replayed = replayed
        while self._questions and self._questions[0].position <= replayed:
            self._held_until = self._questions.popleft().moment
        self.state = State.USED if self._held_until else State.CATCHING_UP
        if self._held_until and self._is_failure_logged:
            self._is_failure_logged = False
            log.info("replica used again")

    async def _set_aside(self, reason: str) -> None:
        """Read from the primary for some seconds, also what is being read from the replica."""
        if not self._is_failure_logged:
            self._is_failure_logged = True
            log.warning("replica set aside", reason=reason)
        self.state, self._next_try = State.SET_ASIDE, monotonic() + SECONDS_ASIDE
        for connection in self._lent:
            connection.abort()
        self.pool.abort_free()
        await self._hang_up()

    async def _hang_up(self) -> None:
        """End the connection of the questions, and forget what it said."""
        asking, self._asking, self._held_until = self._asking, None, 0
        if asking is not None:
            asking.abort()
            await asking.discard()


class _Question(NamedTuple):
    """The primary's position at a moment: whatever was committed before the moment is before the position."""

    moment: int
    position: int


# What is inserted, not what is flushed: commits may be asynchronous.
_WRITTEN = Kept(text("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"))
_REPLAYED = Kept(
    text(
        "SELECT CASE WHEN pg_is_in_recovery() "
        "THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint END"
    )
)
