"""Recording changes: gathered while a transaction runs, and written at its end, in the transaction."""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID, uuid4

from storage.engine.before_commit import note_deltas, work_of
from storage.engine.connections import Connection, SqliteThread
from storage.engine.inserts import insert_into_each
from storage.ledger.books import Key, Ledger, Row, Together
from storage.ledger.folding import add_to_books
from storage.tables.base import Values


def record(connection: Connection, ledger: Ledger, changes: Iterable[tuple[Key, Row]]) -> None:
    """Record changes of a ledger that is `at_once`, by the key of a delta without its id."""
    work_of(connection, _Changes).add(ledger, changes)


def recorded(connection: Connection, ledger: Ledger) -> Iterable[tuple[Key, Row]]:
    """What the transaction has changed so far."""
    changes = None if connection.ending is None else connection.ending.works.get(_Changes)
    return () if changes is None else changes.of(ledger)


class _Changes:
    """What one transaction changes."""

    def __init__(self) -> None:
        self._by_ledger: dict[Ledger, Together] = {}

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

        All deltas of a workspace are one statement.
        """
        by_workspace: defaultdict[UUID, dict[Ledger, list[Values]]] = defaultdict(dict)
        id = uuid4()
        for ledger, together in self._by_ledger.items():
            names = (*ledger.keys, *ledger.values, "id")
            for key, values in together.rows.items():
                if any(values):
                    delta = dict(zip(names, (*key, *values, id), strict=True))
                    by_workspace[key[0]].setdefault(ledger, []).append(delta)
        # In one order, so that transactions do not wait for each other in a circle.
        for workspace_id, deltas in sorted(by_workspace.items()):
            if isinstance(connection, SqliteThread):
                for ledger, own in deltas.items():
                    await add_to_books(connection, ledger, workspace_id, own)
            else:
                await insert_into_each(connection, {ledger.deltas: own for ledger, own in deltas.items()})
                note_deltas(connection, (workspace_id,))
