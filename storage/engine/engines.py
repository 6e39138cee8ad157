"""The engines that open connections."""

import socket
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from storage.dialects.sqlite.driver import DRIVER, refusal
from storage.engine.connection_terms import PLAIN_PLANS, Terms

BUSY_TIMEOUT_SECONDS = 30
# How long opening a connection may take.
OPEN_SECONDS = 30

# A server or proxy that is gone without a word is noticed after 60 seconds.
KEEP_ALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 60_000}

_TIME_ZONE = {"timezone": "UTC"}


def make_engine(url: URL | str, terms: Terms) -> AsyncEngine:
    """An engine that opens connections; the pool is ours."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        engine = create_async_engine(
            parsed,
            hide_parameters=True,
            module=DRIVER,
            connect_args={"timeout": BUSY_TIMEOUT_SECONDS},
            poolclass=NullPool,
        )
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
        event.listen(engine.sync_engine, "invalidate", _give_up_on_sqlite)
        event.listen(engine.sync_engine, "handle_error", _refuse_on_sqlite)
        return engine
    return create_async_engine(
        parsed, hide_parameters=True, poolclass=NullPool, connect_args=_arguments(terms)
    )


def keep_alive(driver: Any) -> None:
    """Let the kernel notice that the other end is gone."""
    connected: socket.socket = driver._transport.get_extra_info("socket")
    if connected.family == socket.AF_UNIX:
        return
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        if (option := getattr(socket, name, None)) is not None:  # Not on every system.
            connected.setsockopt(socket.IPPROTO_TCP, option, value)


def _arguments(terms: Terms) -> dict[str, Any]:
    """The driver's arguments."""
    own = {**_TIME_ZONE, "application_name": terms.name}
    if not terms.pooled:
        settings = {**own, **PLAIN_PLANS, **terms.limits}
        return {"server_settings": settings, "timeout": OPEN_SECONDS}
    # Without caches, the driver sends each statement in one piece that ends with a Sync, without a name: a
    # pooler never parts it, and nothing of it stays. PgBouncer keeps the time zone and name of each client.
    return {
        "server_settings": own,
        "timeout": OPEN_SECONDS,
        "statement_cache_size": 0,
        "prepared_statement_cache_size": 0,
        "prepared_statement_name_func": str,
    }


def _begin_sqlite(connection: Any) -> None:
    """Begin as the execution options of a connection outside the pool say, like that of migrations."""
    if mode := connection.get_execution_options().get("sqlite_begin"):
        connection.exec_driver_sql(f"BEGIN {mode}")


def _refuse_on_sqlite(context: ExceptionContext) -> Exception | None:
    """What is raised for an error of a statement that SQLAlchemy runs, unless it is the error itself."""
    return refusal(context.original_exception)


def _give_up_on_sqlite(adapted: Any, *_: Any) -> None:
    """Interrupt what a connection runs that is closed after an error or because its unit gave up."""
    adapted.driver_connection.give_up()
