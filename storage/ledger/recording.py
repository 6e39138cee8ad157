"""Recording changes: gathered while a transaction runs, and written at its end, in the transaction.

Rows that nothing reads before that are written together with them, in the same statement.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from uuid import UUID, uuid4

from sqlalchemy import Table

from storage.dialects.row_lists import Columns, columns_of
from storage.engine.before_commit import note_deltas, work_of
from storage.engine.connections import Connection, SqliteThread
from storage.engine.inserts import insert_into_each, insert_late
from storage.ledger.books import Key, Ledger, Row, Together
from storage.ledger.folding import add_to_books
from storage.tables.base import Values

# The column of a row that is told from which moment on the transaction changes metrics.
MEASURED_FROM = "measured_from"

InsertLate = Callable[[SqliteThread, Table, Sequence[Values]], None]


def record(connection: Connection, ledger: Ledger, changes: Iterable[tuple[Key, Row]]) -> None:
    """Record changes of a ledger that is `at_once`, by the key of a delta without its id."""
    work_of(connection, _Changes).add(ledger, changes)


def insert_at_end(
    connection: Connection, table: Table, row: Values, on_sqlite: InsertLate = insert_late
) -> None:
    """Insert a row of a workspace, with a value for every column, at the transaction's end.

    No key may refuse it: the transaction would fail. Its values may still change before. SQLite takes all
    rows of the table as `on_sqlite` inserts them.
    """
    work_of(connection, _Changes).insert(table, row, on_sqlite)


def insert_columns_at_end(connection: Connection, workspace_id: UUID, table: Table, columns: Columns) -> None:
    """The same for several rows of a workspace. PostgreSQL only: SQLite puts off any row."""
    work_of(connection, _Changes).insert_columns(workspace_id, table, columns)


def recorded(connection: Connection, ledger: Ledger) -> Iterable[tuple[Key, Row]]:
    """What the transaction, one of `Database.write`, has changed so far."""
    changes: _Changes | None = connection.ending.works.get(_Changes)
    return () if changes is None else changes.of(ledger)


class _Changes:
    """What one transaction changes."""

    def __init__(self) -> None:
        self._by_ledger: dict[Ledger, Together] = {}
        self._rows: list[tuple[Table, Values]] = []
        self._columns: defaultdict[UUID, dict[Table, Columns]] = defaultdict(dict)
        self._on_sqlite: dict[Table, InsertLate] = {}

    def insert(self, table: Table, row: Values, on_sqlite: InsertLate) -> None:
        self._rows.append((table, row))
        self._on_sqlite[table] = on_sqlite

    def insert_columns(self, workspace_id: UUID, table: Table, columns: Columns) -> None:
        own = self._columns[workspace_id]
        there = own.get(table)
        own[table] = columns if there is None else {n: [*there[n], *columns[n]] for n in there}

    def add(self, ledger: Ledger, changes: Iterable[tuple[Key, Row]]) -> None:
        together = self._by_ledger.get(ledger)
        if together is None:
            together = self._by_ledger[ledger] = Together(ledger.combine)
        for key, values in changes:
            together.add(key, values)

    def of(self, ledger: Ledger) -> Iterable[tuple[Key, Row]]:
        together = self._by_ledger.get(ledger)
        return () if together is None else together.rows.items()

    async def finish(self, connection: Connection) -> None:
        """Add to the books on SQLite, which has one writer; elsewhere append deltas, which lock nothing.

        All deltas and rows of a workspace are one statement.
        """
        inserted: defaultdict[UUID, dict[Table, list[Values]]] = defaultdict(dict)
        measured = connection.ending.measured
        for table, row in self._rows:
            if MEASURED_FROM in row:
                # Of all rows of a workspace, one is enough.
                row[MEASURED_FROM] = measured.pop(row["workspace_id"], None)
            inserted[row["workspace_id"]].setdefault(table, []).append(row)
        by_workspace = self._deltas()
        # In one order, so that transactions do not wait for each other in a circle.
        for workspace_id in sorted(by_workspace.keys() | inserted.keys() | self._columns.keys()):
            rows, deltas = inserted[workspace_id], by_workspace[workspace_id]
            if isinstance(connection, SqliteThread):
                for table, some in rows.items():
                    self._on_sqlite[table](connection, table, some)
                for ledger, own in deltas.items():
                    names = _names(ledger)
                    changes = [dict(zip(names, delta, strict=True)) for delta in own]
                    await add_to_books(connection, ledger, workspace_id, changes)
                continue
            columns: dict[Table, Columns] = {table: columns_of(table, some) for table, some in rows.items()}
            columns |= self._columns[workspace_id]
            for ledger, own in deltas.items():
                columns[ledger.deltas] = dict(zip(_names(ledger), zip(*own, strict=True), strict=True))
            await insert_into_each(connection, columns)
            if deltas:
                note_deltas(connection, (workspace_id,))

    def _deltas(self) -> defaultdict[UUID, dict[Ledger, list[Row]]]:
        """The deltas of each workspace."""
        by_workspace: defaultdict[UUID, dict[Ledger, list[Row]]] = defaultdict(dict)
        if not self._by_ledger:
            return by_workspace
        id = uuid4()
        for ledger, together in self._by_ledger.items():
            # Nearly always one workspace.
            for workspace_id, changes in groupby(together.rows.items(), key=lambda change: change[0][0]):
                own = [(*key, *values, id) for key, values in changes if any(values)]
                if own:
                    by_workspace[workspace_id].setdefault(ledger, []).extend(own)
        return by_workspace


def _names(ledger: Ledger) -> tuple[str, ...]:
    """The columns of a delta, in the order of its values."""
    return (*ledger.keys, *ledger.values, "id")
