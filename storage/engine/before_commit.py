"""What a transaction leaves to its end: work done once for all changed rows, and notes for the fold."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from uuid import UUID

from storage.engine.connections import Connection
from storage.enums import ActorKind


class Work(Protocol):
    """Something that gathers until the transaction ends."""

    async def finish(self, connection: Connection) -> None:
        """Write what was gathered, as the transaction's last statements."""


Kind = TypeVar("Kind", bound=Work)


@dataclass
class Ending:
    """The work of a transaction by kind, and the workspaces to whose deltas it adds.

    `works_for` is who makes its changes, unless they are declared to be somebody's. `measured` is the
    earliest moment at which it adds to the metrics of a workspace, in microseconds since 1970.
    """

    works_for: ActorKind
    works: dict[Callable[[], Work], Work] = field(default_factory=dict)
    unfolded: set[UUID] = field(default_factory=set)
    measured: dict[UUID, int] = field(default_factory=dict)


@asynccontextmanager
async def finishing(connection: Connection, works_for: ActorKind) -> AsyncIterator[Ending]:
    """The body of a transaction: finishes its work unless the block raises."""
    ending = connection.ending = Ending(works_for)
    try:
        yield ending
        for work in list(ending.works.values()):
            await work.finish(connection)
    finally:
        connection.ending = None


def work_of(connection: Connection, kind: Callable[[], Kind]) -> Kind:
    """The transaction's work of this kind, made at the first call.

    Raises `RuntimeError` outside `Database.write`, where nothing would finish it.
    """
    works = _ending_of(connection).works
    work = works.get(kind)
    if work is None:
        work = works[kind] = kind()
    return work  # type: ignore[return-value]


def note_deltas(connection: Connection, workspace_ids: Iterable[UUID]) -> None:
    """Note that the transaction adds deltas, so that the fold comes to these workspaces after the commit.

    Raises `RuntimeError` as `work_of` does.
    """
    _ending_of(connection).unfolded.update(workspace_ids)


def note_measured(connection: Connection, workspace_id: UUID, moment: int) -> None:
    """Note that the transaction changes the metrics of a workspace from this moment on.

    Raises `RuntimeError` as `work_of` does.
    """
    measured = _ending_of(connection).measured
    measured[workspace_id] = min(moment, measured.get(workspace_id, moment))


def _ending_of(connection: Connection) -> Ending:
    ending: Ending | None = connection.ending
    if ending is None:
        raise RuntimeError("Counted rows change only inside `Database.write`.")
    return ending
