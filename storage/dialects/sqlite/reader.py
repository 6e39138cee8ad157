"""Short reads of SQLite on the event loop.

A hop to a thread costs several times what a short read does: at every call into SQLite both threads hand the
interpreter's lock to each other. A read that takes longer stops, and a thread starts it again.
"""

import sqlite3
from collections.abc import Sequence
from time import monotonic
from typing import Any

from sqlalchemy.engine import Dialect
from sqlalchemy.engine.url import URL

from storage.dialects.json_rows import LONGEST_TEXT, LinesTooLong
from storage.dialects.metadata_text import metadata_text
from storage.dialects.sqlite.driver import opened

# How long a read may hold the event loop; a page of 100 rows with their lists takes less.
MOST_SECONDS = 0.003
# SQLite asks whether to go on after this many steps of its virtual machine, some 0.3 to 1 ms. A page of ten
# rows takes 3,000, so it does not move to a thread just because the process waited for a core.
STEPS = 10_000
# Each prepared statement takes some tens of kilobytes.
MOST_PREPARED = 250


class SqliteReader:
    """A read-only connection for the event loop, which never waits for a lock. It opens at the first read.

    Each statement runs by itself and sees one state.
    """

    def __init__(self, dialect: Dialect, url: URL) -> None:
        (self._file,), options = dialect.create_connect_args(url)
        self._options: dict[str, Any] = {**options, "timeout": 0, "cached_statements": MOST_PREPARED}
        self._connection: sqlite3.Connection | None = None
        self._deadline = 0.0

    def fetch(self, statement: str, values: Sequence[Any]) -> Sequence[Any] | None:
        """All rows of a statement; None if it fails or takes too long, so that a thread has to run it.

        Raises `LinesTooLong`.
        """
        self._deadline = monotonic() + MOST_SECONDS
        try:
            if self._connection is None:
                self._connection = self._open()
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            if code == sqlite3.SQLITE_TOOBIG:
                raise LinesTooLong from None
            if code != sqlite3.SQLITE_INTERRUPT:
                self.close()
            return None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        connection = opened(self._file, sqlite3.Connection, **self._options)
        connection.execute("PRAGMA query_only=ON")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_TEXT)
        connection.set_progress_handler(self._is_late, STEPS)
        connection.create_function("metadata_text", 2, self._metadata_text, deterministic=True)
        return connection

    def _metadata_text(self, document: str | None, key: str) -> str | None:
        # One call is one step for SQLite, and takes as long as hundreds of others.
        if self._connection is not None and self._is_late():
            self._connection.interrupt()
        return metadata_text(document, key)

    def _is_late(self) -> bool:
        return monotonic() > self._deadline
