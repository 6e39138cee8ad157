"""The change log of a transaction: what it causes is gathered while it runs, and written at its end.

The rows of the log go with the statement that writes what the transaction changed of totals.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from storage.changes.kinds import ChangeKind
from storage.changes.numbering import insert_numbered
from storage.clock import now
from storage.engine.before_commit import note_deltas, work_of
from storage.engine.connections import Connection, SqliteThread
from storage.enums import ActorKind
from storage.ids import growing_number, id_of
from storage.ledger.recording import MEASURED_FROM, insert_at_end
from storage.tables.base import Values, table_of
from storage.tables.changes import ChangeRow

_table = table_of(ChangeRow)
# What is only an update goes without saying beside anything else that happened to the resource.
_UPDATED = "updated"
# What happened to the items of a batch, which are one change together.
_INGESTED = "ingested"


class Actor(NamedTuple):
    """Who makes the changes of a transaction."""

    kind: ActorKind
    id: UUID | None = None


class UndeclaredChange(RuntimeError):
    """An operation has changed a resource in a way that it does not declare."""


class ChangeLog:
    """What one transaction causes. Without a declaration, it may cause anything.

    One change is written for each kind and resource, however many rows of it are written.
    """

    def __init__(self) -> None:
        self._actor: Actor | None = None
        self._declared: Collection[ChangeKind] | None = None
        self._written: dict[tuple[UUID, UUID | None, str], list[Values]] = {}
        self._next_id = growing_number()

    def declare(self, actor: Actor, kinds: Collection[ChangeKind] | None) -> None:
        """Who makes the changes of the transaction, and the kinds that it may cause; None for any."""
        self._actor, self._declared = actor, kinds

    @property
    def workspace_ids(self) -> set[UUID]:
        """The workspaces whose log it writes to."""
        return {workspace_id for workspace_id, _, _ in self._written}

    def is_batch(self, kinds: Sequence[ChangeKind]) -> bool:
        """Whether changes of these kinds are one together, with their number. Raises `UndeclaredChange`."""
        return self._chosen(kinds).happened == _INGESTED

    def add(
        self,
        connection: Connection,
        kinds: Sequence[ChangeKind],
        workspace_id: UUID,
        resource_id: UUID | None,
        count: int = 1,
    ) -> None:
        """Add a change of the first of these kinds that is declared. Raises `UndeclaredChange`.

        `count` is how many items it adds to what was ingested.
        """
        first = kinds[0]
        if first.happened == _UPDATED and self._written.get((workspace_id, resource_id, first.resource)):
            return
        kind = self._chosen(kinds)
        is_batch = kind.happened == _INGESTED
        if is_batch:
            resource_id = None
        written = self._written.setdefault((workspace_id, resource_id, kind.resource), [])
        same = next((row for row in written if row["kind"] == kind.value), None)
        if same is not None:
            same["count"] = same["count"] + count if is_batch else None
        elif len(written) == 1 and written[0]["kind"].endswith(f".{_UPDATED}"):
            written[0]["kind"] = kind.value
        elif count or not is_batch:
            row = self._row(connection, kind, workspace_id, resource_id, count if is_batch else None)
            written.append(row)
            insert_at_end(connection, _table, row, insert_numbered)
            if not isinstance(connection, SqliteThread):
                note_deltas(connection, (workspace_id,))

    def _chosen(self, kinds: Sequence[ChangeKind]) -> ChangeKind:
        if self._declared is None:
            return kinds[0]
        for kind in kinds:
            if kind in self._declared:
                return kind
        raise UndeclaredChange(f"The operation causes {kinds[0]}, which it does not declare.")

    def _row(
        self,
        connection: Connection,
        kind: ChangeKind,
        workspace_id: UUID,
        resource_id: UUID | None,
        count: int | None,
    ) -> Values:
        actor = self._actor or Actor(connection.ending.works_for)
        # In the order of the transaction: changes of the same moment are numbered by their ids.
        id, self._next_id = id_of(self._next_id), self._next_id + 1
        return {
            "workspace_id": workspace_id,
            "id": id,
            "position": None,
            "kind": kind.value,
            "resource_id": resource_id,
            # PostgreSQL takes its own clock instead, which is the same for all processes.
            "at": now(),
            "actor_kind": actor.kind.value,
            "actor_id": actor.id,
            "count": count,
            MEASURED_FROM: None,
        }

    async def finish(self, connection: Connection) -> None:
        """Does nothing: the rows are inserted with all others of the transaction's end."""


def log_of(connection: Connection) -> ChangeLog:
    """The change log of the transaction. Raises `RuntimeError` outside `Database.write`."""
    return work_of(connection, ChangeLog)
