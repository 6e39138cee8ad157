"""Which errors say that the database cannot work now, or that what it was asked for is too long for it."""

import sqlite3

from asyncpg import InternalClientError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from storage.dialects.json_rows import LinesTooLong

# What the SQLSTATEs of a connection that is gone begin with: 08 lost connections, 57P a server that stops,
# starts or was told to end the connection.
_LOST = ("08", "57P")
# 53 a full disk, too little memory or too many connections, 57 a server that gave up on a statement, 58 its
# files or system.
_OUTAGES = (*_LOST, "53", "57", "58")
# Single states: another transaction was in the way, or this server takes no changes.
_STATES = frozenset({"40001", "40P01", "55P03", "25006"})
# A statement that was cancelled: it reached its limit, or an operator ended it.
_CANCELLED = "57014"
# What PostgreSQL says when a text grows beyond a gigabyte, and when lines do beyond their bound.
_BEYOND_A_LIMIT = ("54000", "22003")
# What Citus says, as an internal error, of connections to nodes that end in the middle of something.
_INTERNAL = "XX000"
_OF_NODES = (
    "server closed the connection unexpectedly",
    "failure on connection marked as essential",
    "on at least one active node",
)
_SQLITE_CODES = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)


class DatabaseUnreachable(OSError):
    """The connection to the database was lost or could not be opened."""


class NodeUnreachable(Exception):
    """The node of a cluster that a statement needs does not answer; its text is for callers."""


def is_outage(error: BaseException) -> bool:
    """Whether the database was unreachable, overloaded or out of space, or no connection got free."""
    if isinstance(error, PoolTimeout | NodeUnreachable) or is_lost(error):
        return True
    driver = _of_driver(error)
    if isinstance(driver, sqlite3.Error):
        # The lower byte is the kind of the error, the others its details.
        return getattr(driver, "sqlite_errorcode", 0) & 0xFF in _SQLITE_CODES
    state = _state(driver)
    return state.startswith(_OUTAGES) or state in _STATES


def is_over_limit(error: BaseException) -> bool:
    """Whether the statement itself took too long, or was cancelled by an operator."""
    return _state(_of_driver(error)) == _CANCELLED


def too_long(error: Exception) -> LinesTooLong | None:
    """The error for lines that are too long for PostgreSQL to make; None for other errors."""
    return LinesTooLong() if _state(error) in _BEYOND_A_LIMIT else None


def is_lost(error: BaseException) -> bool:
    """Whether the connection on which the error was raised is of no more use."""
    driver = _of_driver(error)
    if isinstance(error, DatabaseUnreachable) or _state(driver).startswith(_LOST):
        return True
    # asyncpg raises it between a server's last words and the end of the connection.
    causes = (driver, driver.__cause__)
    if any(isinstance(cause, InternalClientError) for cause in causes):
        return True
    return isinstance(error, DBAPIError) and "connection is closed" in str(driver)


def is_of_node(error: BaseException) -> bool:
    """Whether a connection of Citus to a node ended, which it does not say by a state of its own."""
    driver = _of_driver(error)
    return _state(driver) == _INTERNAL and any(words in str(driver) for words in _OF_NODES)


def has_state(error: BaseException, *beginnings: str) -> bool:
    """Whether PostgreSQL gave the error a state that begins so."""
    return _state(_of_driver(error)).startswith(beginnings)


def _of_driver(error: BaseException) -> BaseException:
    """The driver's error; what asyncpg raises while it connects is not translated by SQLAlchemy."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def _state(driver: BaseException) -> str:
    """The SQLSTATE; empty for errors that do not come from PostgreSQL."""
    return str(getattr(driver, "sqlstate", None) or "")
