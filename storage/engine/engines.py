"""The engines that open connections."""

from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from storage.dialects.sqlite_driver import SqliteDriver, prepare_connection
from storage.engine.connection_terms import PLAIN_PLANS, Terms

BUSY_TIMEOUT_SECONDS = 30
# How long opening a connection may take.
OPEN_SECONDS = 30

_TIME_ZONE = {"timezone": "UTC"}


def make_engine(url: str, terms: Terms) -> AsyncEngine:
    """An engine that opens connections; the pool is ours."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        engine = create_async_engine(
            parsed,
            hide_parameters=True,
            module=SqliteDriver(),
            connect_args={"timeout": BUSY_TIMEOUT_SECONDS},
            poolclass=NullPool,
        )
        event.listen(engine.sync_engine, "connect", prepare_connection)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
        return engine
    return create_async_engine(
        parsed, hide_parameters=True, poolclass=NullPool, connect_args=_arguments(terms)
    )


def _arguments(terms: Terms) -> dict[str, Any]:
    """The driver's arguments."""
    if not terms.pooled:
        settings = {**_TIME_ZONE, **PLAIN_PLANS, **terms.limits}
        return {"server_settings": settings, "timeout": OPEN_SECONDS}
    # Without caches, the driver sends each statement in one piece that ends with a Sync, without a name: a
    # pooler never parts it, and nothing of it stays. PgBouncer keeps the time zone of each client.
    return {
        "server_settings": _TIME_ZONE,
        "timeout": OPEN_SECONDS,
        "statement_cache_size": 0,
        "prepared_statement_cache_size": 0,
        "prepared_statement_name_func": str,
    }


def _begin_sqlite(connection: Any) -> None:
    """Begin as the execution options of a connection outside the pool say, like that of migrations."""
    if mode := connection.get_execution_options().get("sqlite_begin"):
        connection.connection.dbapi_connection.begin(mode)
