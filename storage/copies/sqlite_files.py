"""SQLite files that are copied: read as they are at one moment, counted and checked."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from storage.operator_errors import OperatorError

# Some 16 MiB at a time, after which the progress is shown.
_PAGES = 4096
_TABLES = """
    SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %' ORDER BY name
"""

# What is copied, how much of it, and how much there is.
Progress = Callable[[str, int, int], None]


class CopyRefused(OperatorError):
    """What is wrong with a copy, its source or its place."""


def open_file(file: Path) -> sqlite3.Connection:
    """A connection that only reads, for one thread at a time."""
    uri = f"{file.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30, check_same_thread=False)


def copy_database(source: Path, target: Path, progress: Progress) -> None:
    """Copy the database as it is at one moment. Raises `CopyRefused` if SQLite finds it damaged.

    An open transaction holds that moment: without one, each change would begin the copy again.
    """

    def report(_: int, left: int, total: int) -> None:
        progress("Database", total - left, total)

    target.unlink(missing_ok=True)
    with closing(open_file(source)) as live, closing(sqlite3.connect(target)) as copy:
        live.execute("BEGIN")
        live.execute("SELECT count(*) FROM sqlite_master").fetchone()
        live.backup(copy, pages=_PAGES, progress=report)
        # One file, which a reader need not write beside.
        copy.execute("PRAGMA journal_mode=DELETE")
    check_database(target)


def check_database(file: Path) -> None:
    """Raises `CopyRefused` unless SQLite can read every page and every reference leads to a row."""
    try:
        with closing(open_file(file)) as connection:
            (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.DatabaseError as error:
        answer, broken = str(error), None
    if answer != "ok":
        raise CopyRefused(f"The database is damaged ({answer}): use an older backup.")
    if broken is not None:
        raise CopyRefused(f"Rows of {broken[0]} refer to missing rows: use an older backup.")


def rows_of(file: Path) -> dict[str, int]:
    """The number of rows of each table; those of an index are counted in the tables that it is made of."""
    with closing(open_file(file)) as connection:
        names = connection.execute(_TABLES)
        tables = [name for (name,) in names if not name.startswith("sqlite_")]
        return {
            name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608
            for name in tables
        }
