"""Work that a transaction leaves to its end, so that it is done once for all the rows that were changed."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar
from uuid import UUID

from storage.engine.connections import Connection


class Work(Protocol):
    """Something that gathers until the transaction ends."""

    async def finish(self, connection: Connection) -> None:
        """Write what was gathered, as the transaction's last statements."""


Kind = TypeVar("Kind", bound=Work)

Works = dict[Callable[[], Work], Work]


@asynccontextmanager
async def finishing(connection: Connection) -> AsyncIterator[Works]:
    """The body of a transaction: finishes its work unless the block raises."""
    works: Works = {}
    connection.works = works
    try:
        yield works
        for work in list(works.values()):
            await work.finish(connection)
    finally:
        connection.works = None


def work_of(connection: Connection, kind: Callable[[], Kind]) -> Kind:
    """The transaction's work of this kind, made at the first call.

    Raises `RuntimeError` outside `Database.write`, where nothing would finish it.
    """
    works: Works | None = connection.works
    if works is None:
        raise RuntimeError("Counted rows change only inside `Database.write`.")
    work = works.get(kind)
    if work is None:
        work = works[kind] = kind()
    return work  # type: ignore[return-value]


class Unfolded:
    """The workspaces to whose deltas a transaction has added; there is nothing to write for this."""

    def __init__(self) -> None:
        self.workspace_ids: set[UUID] = set()

    async def finish(self, connection: Connection) -> None:
        """Does nothing."""


def note_deltas(connection: Connection, workspace_ids: Iterable[UUID]) -> None:
    """Note that the transaction adds deltas, so that the fold comes to these workspaces after the commit.

    Outside `Database.write` they wait until the fold looks into all workspaces.
    """
    if connection.works is not None:
        work_of(connection, Unfolded).workspace_ids.update(workspace_ids)


def workspaces_to_fold(works: Works) -> Collection[UUID]:
    """The workspaces that were noted."""
    unfolded = works.get(Unfolded)
    return unfolded.workspace_ids if isinstance(unfolded, Unfolded) else ()
