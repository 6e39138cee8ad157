"""`/health` and `/ready`, for process managers, monitoring and load balancers."""

import asyncio
import time
from math import inf

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from resolvers.operations.answers import Answer
from resolvers.operations.context import Context
from schema.errors import Unavailable
from storage.copies.marks import State, read_mark
from storage.engine.database import Database
from storage.migrations.revisions import current_revision, is_newer, newest_revision

HEALTH_PATH, READY_PATH = "/health", "/ready"
PATIENCE_SECONDS = 5
GOOD_FOR_SECONDS = 1


def ready_route(database: Database) -> Route:
    """`/ready` needs a database at our revision, or at one of a newer version that is about to follow.

    It says how the process uses its replica, if it has one, and needs none.
    """
    wanted = newest_revision()
    readiness = Readiness(database, wanted)

    async def ready(_: Request) -> JSONResponse:
        fault = await readiness.fault()
        if fault is None:
            used = {} if database.replica is None else {"replica": database.replica.state}
            return JSONResponse({"status": "ok", "revision": wanted, **used})
        failure = Unavailable(fault)
        return JSONResponse(failure.body, int(failure.status), failure.headers)

    return Route(READY_PATH, ready)


class Health:
    """`/health` answers while the process runs."""

    assumes = False
    _answer = Answer(200, b'{"status":"ok"}')

    async def answer(self, _: Context, __: Request) -> Answer:
        return self._answer


class Readiness:
    """The database's fault, checked at most once a second for all callers."""

    def __init__(self, database: Database, wanted: str) -> None:
        self._database = database
        self._wanted = wanted
        self._asking = asyncio.Lock()
        self._asked_at = -inf
        self._fault: str | None = None

    async def fault(self) -> str | None:
        """None if the database is ready."""
        async with self._asking:
            if time.monotonic() - self._asked_at >= GOOD_FOR_SECONDS:
                self._fault = await _fault_of(self._database, self._wanted)
                self._asked_at = time.monotonic()
            return self._fault


async def _fault_of(database: Database, wanted: str) -> str | None:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            revision = await current_revision(database)
            mark = await read_mark(database) if database.is_sqlite else None
    except (SQLAlchemyError, OSError):
        return "The database does not answer."
    # A newer version replaces us next; its migrations leave what we use. If we were not ready until then, no
    # process would be.
    if revision != wanted and not is_newer(revision):
        return f"The database is at revision {revision or 'none'}, not at {wanted}: run `duograph migrate`."
    if mark is not None and mark.state is State.MOVED:
        return "The data was moved to another database: this is a copy."
    return None
