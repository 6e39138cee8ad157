"""How many statements a request takes: kept ones, and those that SQLAlchemy builds for it.

The request is sent to a gateway in this process, without sockets and without its background tasks.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from sqlalchemy import event

from bench.servers import Site
from bench.wrk import Request
from gateway.app import create_app
from gateway.settings.settings import Settings
from storage.engine.database import Database

# Tokens are marked as used, and documents planned, before the call that is counted.
CALLS = 3


@dataclass
class Statements:
    kept: int = 0
    built: int = 0


class StatementCounter:
    """A gateway over the site's database; it is closed at the end of `with`."""

    def __init__(self, site: Site) -> None:
        self._app = create_app(Settings(**site.settings))
        self._runner = asyncio.Runner()

    def __enter__(self) -> "StatementCounter":
        return self

    def __exit__(self, *_: object) -> None:
        with self._runner:
            self._runner.run(self._database.close())

    def count(self, request: Request, token: str) -> Statements:
        for _ in range(CALLS):
            with _counted(self._database) as statements:
                self._runner.run(self._send(request, token))
        return statements

    @property
    def _database(self) -> Database:
        database: Database = self._app.state.services.database
        return database

    async def _send(self, request: Request, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            answer = await client.request(request.method, request.path, content=request.body, headers=headers)
            answer.raise_for_status()


@contextmanager
def _counted(database: Database) -> Iterator[Statements]:
    statements = Statements()

    def count_kept(_: str) -> None:
        statements.kept += 1

    def count_built(*_: Any) -> None:
        statements.built += 1

    engine = database.engine.sync_engine
    database.listeners.append(count_kept)
    event.listen(engine, "before_cursor_execute", count_built)
    try:
        yield statements
    finally:
        database.listeners.remove(count_kept)
        event.remove(engine, "before_cursor_execute", count_built)
